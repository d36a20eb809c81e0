// SPDX-License-Identifier: Apache-2.0
//
// What the command line asked for, as plain data, and its parser.
#ifndef LOOKASIDE_CLI_ARGUMENTS_H_
#define LOOKASIDE_CLI_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/trace/lkt_level.h"
#include "lookaside/trace/trace_options.h"

namespace lookaside {

enum class Command : uint8_t {
  kHelp,
  kVersion,
  kDemo,
  kReplay,
  kSweep,
  kReproduce,
  kTraceInfo,
  kTraceHead,
  kTraceConvert,
  kConfigList,
  kConfigShow,
  kConfigCheck,
};

struct Arguments {
  Command command = Command::kHelp;
  std::string help;  // the text, for kHelp
  std::vector<std::string> traces;
  TraceOptions reading;  // of the traces
  ConfigRequest config;
  uint64_t seed = 0;
  uint64_t lines = 10;
  std::string output;               // of trace convert
  int level = kLktDefaultLevel;     // of its compression
  std::vector<std::string> varies;  // --vary, each "key=list"
  std::vector<std::string> cards;   // of reproduce; none: all
  bool strict = false;              // of reproduce
  uint64_t jobs = 0;                // host threads; 0: as many as the host has
  std::string json;  // a file, "-" for standard output; empty: none
  std::string csv;   // likewise
};

// The files that the command reads.
std::vector<std::string> InputsOf(const Arguments& arguments);

// `words` follow the name of the program. An error is one line and says which
// word is wrong.
absl::StatusOr<Arguments> ParseArguments(std::vector<std::string> words);

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_ARGUMENTS_H_
