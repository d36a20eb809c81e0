// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/users_directory.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "lookaside/base/status.h"

namespace lookaside {

absl::Status EnterUsersDirectory() {
  const char* const directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (directory == nullptr || *directory == '\0') return absl::OkStatus();
  // A script that `bazel run` started may have gone elsewhere on purpose.
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || !here.parent_path().string().ends_with(".runfiles")) {
    return absl::OkStatus();
  }
  std::filesystem::current_path(directory, error);
  if (error) {
    return NotFound("BUILD_WORKING_DIRECTORY {}: {}", directory,
                    error.message());
  }
  return absl::OkStatus();
}

}  // namespace lookaside
