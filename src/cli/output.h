// SPDX-License-Identifier: Apache-2.0
//
// What the commands that simulate have in common in their output.
#ifndef LOOKASIDE_CLI_OUTPUT_H_
#define LOOKASIDE_CLI_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "lookaside/cli/arguments.h"
#include "lookaside/config/loaded_config.h"
#include "lookaside/machine/check_counters.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// CheckResultFile of every file that the command is to write.
absl::Status CheckResultFiles(const Arguments& arguments);

// Whether one of them is standard output.
bool TakesStandardOutput(const Arguments& arguments);

// Host threads to work with.
unsigned JobsOf(const Arguments& arguments);

// Aborted if a check found a violation; the result says where.
absl::Status ViolationsOf(const CheckCounters& checks);

// The error of a replay, beginning with the name of its trace.
absl::Status WithTraceName(const absl::Status& error,
                           const TraceReader& reader);

// What was simulated, in one line.
std::string MachineLine(const ConfigRequest& request,
                        const LoadedConfig& loaded);

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_OUTPUT_H_
