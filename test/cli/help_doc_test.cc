// SPDX-License-Identifier: Apache-2.0
//
// docs/cli.md shows what --help prints: each block that begins with
// "$ lookaside ... --help" is compared.
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lookaside/test/cli/command_runner.h"
#include "lookaside/test/cli/golden.h"

namespace lookaside {
namespace {

constexpr char kDocument[] = "docs/cli.md";
constexpr char kPrompt[] = "$ lookaside ";

// The document with every such block as the command prints it now.
std::string Current(const std::string& document, int& blocks) {
  std::string text;
  std::istringstream lines(document);
  for (std::string line; std::getline(lines, line);) {
    text += line + "\n";
    if (!line.starts_with(kPrompt) || !line.ends_with("--help")) continue;
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

TEST(HelpDocTest, ShowsWhatHelpPrints) {
  int blocks = 0;
  ExpectGolden(kDocument, Current(ReadFile(kDocument), blocks));
  EXPECT_EQ(blocks, 11);  // every command
}

}  // namespace
}  // namespace lookaside
