// SPDX-License-Identifier: Apache-2.0
//
// The commands, one function each: their results go to standard output or to
// the file of --json; an error is one line for standard error. Aborted: the
// command did its work, and what it found is not as it should be.
#ifndef LOOKASIDE_CLI_COMMANDS_H_
#define LOOKASIDE_CLI_COMMANDS_H_

#include "absl/status/status.h"
#include "lookaside/cli/arguments.h"

namespace lookaside {

absl::Status RunDemo(const Arguments& arguments);
absl::Status RunReplay(const Arguments& arguments);
absl::Status RunSweepCommand(const Arguments& arguments);
absl::Status RunReproduce(const Arguments& arguments);
absl::Status RunTraceInfo(const Arguments& arguments);
absl::Status RunTraceHead(const Arguments& arguments);
absl::Status RunTraceConvert(const Arguments& arguments);
absl::Status RunConfigList();
absl::Status RunConfigShow(const Arguments& arguments);
absl::Status RunConfigCheck(const Arguments& arguments);

// Whichever of them `arguments.command` names.
absl::Status RunCommand(const Arguments& arguments);

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_COMMANDS_H_
