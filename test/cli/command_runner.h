// SPDX-License-Identifier: Apache-2.0
//
// Runs the command `lookaside` as a user's shell would.
//
//   Finished done = RunLookaside({"replay", "-", "--json", "-"}, {.input =
//   kTrace}); EXPECT_EQ(done.status, 0) << done.err;
#ifndef LOOKASIDE_TEST_CLI_COMMAND_RUNNER_H_
#define LOOKASIDE_TEST_CLI_COMMAND_RUNNER_H_

#include <string>
#include <utility>
#include <vector>

namespace lookaside {

struct RunOptions {
  std::string input = {};                   // standard input
  std::string directory = {};               // where it runs; empty: here
  std::vector<std::string> variables = {};  // "NAME=VALUE", beside our own
  // Shell redirections that stand behind the command: "> /dev/full".
  std::string redirect = {};
};

struct Finished {
  int status = -1;  // exit status; 128 + the signal, if one ended it
  std::string out;
  std::string err;
};

Finished RunLookaside(const std::vector<std::string>& arguments,
                      const RunOptions& options = {});

// The command's absolute path.
std::string Binary();

// An empty directory of this test's own.
std::string NewDirectory();

void WriteFile(const std::string& path, const std::string& text);
std::string ReadFile(const std::string& path);

// A result less its last member, `host`.
std::string WithoutHost(const std::string& json);

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_CLI_COMMAND_RUNNER_H_
