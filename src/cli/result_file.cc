// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/result_file.h"

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "lookaside/base/atomic_file.h"
#include "lookaside/base/status.h"
#include "lookaside/cli/standard_streams.h"

namespace lookaside {
namespace {

// Holds back the signals that end a program.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      sigaddset(&held, signal);
    }
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

absl::Status Replace(const std::string& path, std::string_view text) {
  // A pipe may have to be waited for, and given up.
  std::optional<SignalsHeld> held;
  std::error_code error;
  if (!std::filesystem::exists(path, error) ||
      std::filesystem::is_regular_file(path, error)) {
    held.emplace();
  }
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                             AtomicFile::Create(path));
  LOOKASIDE_RETURN_IF_ERROR(file->Append(text));
  return file->Commit();
}

}  // namespace

absl::Status CheckResultFile(std::string_view option, const std::string& path,
                             const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!std::filesystem::equivalent(path, input, error)) continue;
    return InvalidArgument(
        "{} {}: this is the input {} itself; write the result to another file",
        option, path, input);
  }
  if (path.empty() || path == "-") return absl::OkStatus();
  return CheckWritable(path);
}

bool NameOneFile(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  if (a == b) return true;
  if (a == "-" || b == "-") return false;
  const auto whole = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::weakly_canonical(
        std::filesystem::absolute(LinkTarget(path), error), error);
  };
  return whole(a) == whole(b);
}

absl::Status WriteResultFile(const std::string& path, std::string_view text) {
  if (path == "-") return WriteStandardOutput(text);
  return Replace(path, text);
}

}  // namespace lookaside
