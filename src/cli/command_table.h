// SPDX-License-Identifier: Apache-2.0
//
// The commands with their options and help, as CLI11 knows them. Only
// command_table.cc and arguments.cc include this: CLI11 is slow to compile.
#ifndef LOOKASIDE_CLI_COMMAND_TABLE_H_
#define LOOKASIDE_CLI_COMMAND_TABLE_H_

#include <string>

#include "CLI/CLI.hpp"
#include "lookaside/cli/arguments.h"

namespace lookaside {

// Where CLI11 puts what it reads.
struct Words {
  Arguments arguments;
  std::string trace;  // of commands that take one
  std::string format;
  std::string max_expansion;
  std::string thread_order;
  std::string seed;
  std::string jobs;
  std::string lines;
  std::string level;
  std::string preset;  // of `config show PRESET`
  bool version = false;
};

// Adds everything to `app`, which then writes into `words`.
void BuildCommands(CLI::App& app, Words& words);

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_COMMAND_TABLE_H_
