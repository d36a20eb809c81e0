// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/commands.h"

#include <string>

#include "lookaside/base/check.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/report/version.h"

namespace lookaside {

absl::Status RunCommand(const Arguments& arguments) {
  switch (arguments.command) {
    case Command::kHelp:
      return WriteStandardOutput(arguments.help);
    case Command::kVersion:
      return WriteStandardOutput(std::string("lookaside ") + kVersion + "\n");
    case Command::kDemo:
      return RunDemo(arguments);
    case Command::kReplay:
      return RunReplay(arguments);
    case Command::kSweep:
      return RunSweepCommand(arguments);
    case Command::kReproduce:
      return RunReproduce(arguments);
    case Command::kTraceInfo:
      return RunTraceInfo(arguments);
    case Command::kTraceHead:
      return RunTraceHead(arguments);
    case Command::kTraceConvert:
      return RunTraceConvert(arguments);
    case Command::kConfigList:
      return RunConfigList();
    case Command::kConfigShow:
      return RunConfigShow(arguments);
    case Command::kConfigCheck:
      return RunConfigCheck(arguments);
  }
  LOOKASIDE_CHECK(false);
}

}  // namespace lookaside
