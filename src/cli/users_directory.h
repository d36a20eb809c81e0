// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_CLI_USERS_DIRECTORY_H_
#define LOOKASIDE_CLI_USERS_DIRECTORY_H_

#include "absl/status/status.h"

namespace lookaside {

// `bazel run` starts a program among its runfiles and tells in
// BUILD_WORKING_DIRECTORY where the user is. Goes there, so that relative
// paths of the command line, and of files that it names, mean the user's.
absl::Status EnterUsersDirectory();

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_USERS_DIRECTORY_H_
