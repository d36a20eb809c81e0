// SPDX-License-Identifier: Apache-2.0
//
// Documents show what the command prints: each block that begins with
// "$ lookaside ..." is compared.
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lookaside/test/cli/command_runner.h"
#include "lookaside/test/cli/golden.h"

namespace lookaside {
namespace {

constexpr char kPrompt[] = "$ lookaside ";

// The document with every such block as the command prints it now.
std::string Current(const std::string& document, int& blocks) {
  std::string text;
  std::istringstream lines(document);
  for (std::string line; std::getline(lines, line);) {
    text += line + "\n";
    if (!line.starts_with(kPrompt)) continue;
    ++blocks;
    std::vector<std::string> arguments;
    std::istringstream words(line.substr(std::string(kPrompt).size()));
    for (std::string word; words >> word;) arguments.push_back(word);
    text += RunLookaside(arguments).out;
    while (std::getline(lines, line) && line != "```") {
    }
    text += "```\n";
  }
  return text;
}

void ExpectCurrent(const std::string& path, int blocks) {
  int found = 0;
  ExpectGolden(path, Current(ReadFile(path), found));
  EXPECT_EQ(found, blocks);
}

TEST(DocumentTest, CliShowsTheHelpOfEveryCommand) {
  ExpectCurrent("docs/cli.md", 14);
}

TEST(DocumentTest, ReadmeShowsTheDemo) { ExpectCurrent("README.md", 1); }

}  // namespace
}  // namespace lookaside
