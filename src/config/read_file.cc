// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/read_file.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

absl::StatusOr<std::string> ReadAll(std::FILE* file, const std::string& path) {
  std::string text(kMaxBytes + 1, '\0');
  const size_t size = std::fread(text.data(), 1, text.size(), file);
  if (std::ferror(file) != 0) {
    return NotFound("{}: cannot be read: {}", path, std::strerror(errno));
  }
  if (size > kMaxBytes) {
    return InvalidArgument("{}: larger than 1 MiB, so no configuration file",
                           path);
  }
  text.resize(size);
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadConfigFile(const std::string& path) {
  if (path == "-") return ReadAll(stdin, "standard input");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) {
    return NotFound("{}: cannot be read: {}", path, std::strerror(errno));
  }
  return ReadAll(file.get(), path);
}

}  // namespace lookaside
