// SPDX-License-Identifier: Apache-2.0
//
// The command `lookaside`. Exit status: 0 good, also where nobody reads the
// output to its end; 1 a check found a violation, or figures fell short; 2 bad
// usage or bad input. One line on standard error tells of both.
#include <string>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/cli/arguments.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/cli/users_directory.h"

namespace lookaside {
namespace {

absl::Status Main(int argc, char** argv) {
  LOOKASIDE_RETURN_IF_ERROR(EnterUsersDirectory());
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);
  LOOKASIDE_ASSIGN_OR_RETURN(const Arguments arguments,
                             ParseArguments(std::move(words)));
  return RunCommand(arguments);
}

}  // namespace
}  // namespace lookaside

int main(int argc, char** argv) {
  lookaside::PrepareStandardStreams();
  const absl::Status status = lookaside::Main(argc, argv);
  if (status.ok() || absl::IsCancelled(status)) return 0;
  lookaside::PrintError(lookaside::Message(status));
  return absl::IsAborted(status) ? 1 : 2;
}
