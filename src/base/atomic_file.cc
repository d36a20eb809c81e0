// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/base/write_all.h"

namespace lookaside {
namespace {

absl::Status CannotWrite(const std::string& path, int error) {
  return InvalidArgument("{}: cannot be written: {}", path,
                         std::strerror(error));
}

std::optional<mode_t> ModeOf(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return info.st_mode;
}

// A pipe or the like.
bool IsDevice(std::optional<mode_t> mode) { return mode && !S_ISREG(*mode); }

std::string DirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

std::string LinkTarget(const std::string& path) {
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

absl::Status CheckWritable(const std::string& path) {
  const std::optional<mode_t> mode = ModeOf(path);
  if (mode && S_ISDIR(*mode)) return CannotWrite(path, EISDIR);
  const std::string written =
      IsDevice(mode) ? path : DirectoryOf(LinkTarget(path));
  if (access(written.c_str(), W_OK) != 0) return CannotWrite(path, errno);
  return absl::OkStatus();
}

AtomicFile::AtomicFile(std::string path, std::string target,
                       std::string written, int file)
    : path_(std::move(path)),
      target_(std::move(target)),
      written_(std::move(written)),
      file_(file) {}

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(
    const std::string& path) {
  const std::optional<mode_t> mode = ModeOf(path);
  const bool device = IsDevice(mode);
  // By its own name: what a link of /proc to a pipe names is no path.
  std::string target = device ? "" : LinkTarget(path);
  std::string written =
      device ? path : fmt::format("{}.{}.part", target, getpid());
  const int flags = (device ? 0 : O_CREAT | O_TRUNC) | O_WRONLY | O_CLOEXEC;
  const int file = open(written.c_str(), flags, 0666);
  if (file < 0) return CannotWrite(path, errno);
  std::unique_ptr<AtomicFile> result(
      new AtomicFile(path, std::move(target), std::move(written), file));
  if (mode && !device && fchmod(file, *mode & 07777) != 0) {
    return CannotWrite(path, errno);
  }
  return result;
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  close(file_);
  if (!target_.empty()) unlink(written_.c_str());
}

absl::Status AtomicFile::Append(std::string_view bytes) {
  return WriteAll(file_, bytes) ? absl::OkStatus() : CannotWrite(path_, errno);
}

absl::Status AtomicFile::Commit() {
  int error = close(std::exchange(file_, -1)) == 0 ? 0 : errno;
  if (target_.empty()) {
    return error == 0 ? absl::OkStatus() : CannotWrite(path_, error);
  }
  if (error == 0 && std::rename(written_.c_str(), target_.c_str()) != 0) {
    error = errno;
  }
  if (error == 0) return absl::OkStatus();
  unlink(written_.c_str());
  return CannotWrite(path_, error);
}

}  // namespace lookaside
