// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "lookaside/base/status.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/cli/write_all.h"

namespace lookaside {
namespace {

absl::Status CannotWrite(const std::string& path, int error) {
  return InvalidArgument("{}: cannot be written: {}", path,
                         std::strerror(error));
}

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

std::optional<mode_t> ModeOf(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return info.st_mode;
}

// What `path` is in the end: a symbolic link stays one, also where it leads
// to nothing yet.
std::string Target(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path next =
        std::filesystem::read_symlink(target, error);
    if (error) break;  // no link
    target = target.parent_path() / next;
  }
  return target.string();
}

// A pipe or the like.
bool IsDevice(std::optional<mode_t> mode) { return mode && !S_ISREG(*mode); }

std::string DirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// 0, or what went wrong.
int WriteTo(const std::string& path, int flags, std::string_view text,
            std::optional<mode_t> mode) {
  const int fd = open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  int error = WriteAll(fd, text) ? 0 : errno;
  if (error == 0 && mode && fchmod(fd, *mode & 07777) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

int Replace(const std::string& path, std::string_view text,
            std::optional<mode_t> mode) {
  const SignalsHeld held;
  const std::string partial = fmt::format("{}.{}.part", path, getpid());
  int error = WriteTo(partial, O_CREAT | O_TRUNC, text, mode);
  if (error == 0 && std::rename(partial.c_str(), path.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) unlink(partial.c_str());
  return error;
}

}  // namespace

absl::Status CheckResultFile(const std::string& path,
                             const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!std::filesystem::equivalent(path, input, error)) continue;
    return InvalidArgument(
        "--json {}: this is the input {} itself; write the result to another "
        "file",
        path, input);
  }
  if (path.empty() || path == "-") return absl::OkStatus();
  const std::optional<mode_t> mode = ModeOf(path);
  if (mode && S_ISDIR(*mode)) return CannotWrite(path, EISDIR);
  const std::string written = IsDevice(mode) ? path : DirectoryOf(Target(path));
  if (access(written.c_str(), W_OK) != 0) return CannotWrite(path, errno);
  return absl::OkStatus();
}

bool NameOneFile(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  if (a == b) return true;
  if (a == "-" || b == "-") return false;
  const auto whole = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::weakly_canonical(
        std::filesystem::absolute(Target(path), error), error);
  };
  return whole(a) == whole(b);
}

absl::Status WriteResultFile(const std::string& path, std::string_view text) {
  if (path == "-") return WriteStandardOutput(text);
  const std::optional<mode_t> mode = ModeOf(path);
  // By its own name: what a link of /proc to a pipe names is no path.
  const int error = IsDevice(mode) ? WriteTo(path, 0, text, std::nullopt)
                                   : Replace(Target(path), text, mode);
  return error == 0 ? absl::OkStatus() : CannotWrite(path, error);
}

}  // namespace lookaside
