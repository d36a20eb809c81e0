// SPDX-License-Identifier: Apache-2.0
#include "lookaside/test/cli/command_runner.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace lookaside {
namespace {

std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string Binary() {
  // Runfiles of //:lookaside; tests run at their root.
  static const std::string path = std::filesystem::absolute("lookaside");
  return path;
}

std::string NewDirectory() {
  std::string name = ::testing::TempDir() + "/lookaside.XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Finished RunLookaside(const std::vector<std::string>& arguments,
                      const RunOptions& options) {
  const std::string directory = NewDirectory();
  WriteFile(directory + "/in", options.input);
  std::string line;
  if (!options.directory.empty()) {
    line += "cd " + Quoted(options.directory) + " && ";
  }
  // `bazel run` sets it, with which goldens are updated.
  line += "env -u BUILD_WORKING_DIRECTORY";
  for (const std::string& variable : options.variables) {
    line += " " + Quoted(variable);
  }
  line += " " + Quoted(Binary());
  for (const std::string& argument : arguments) line += " " + Quoted(argument);
  line += " < " + Quoted(directory + "/in") + " > " +
          Quoted(directory + "/out") + " 2> " + Quoted(directory + "/err") +
          " " + options.redirect;
  const int status = std::system(line.c_str());
  Finished finished;
  finished.status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = ReadFile(directory + "/out");
  finished.err = ReadFile(directory + "/err");
  std::filesystem::remove_all(directory);
  return finished;
}

std::string WithoutHost(const std::string& json) {
  const size_t host = json.find("\n  \"host\": {");
  EXPECT_NE(host, std::string::npos) << json;
  return json.substr(0, host);
}

}  // namespace lookaside
