// SPDX-License-Identifier: Apache-2.0
//
// Full disks, readers that go away, and signals.
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lookaside/test/cli/command_runner.h"

namespace lookaside {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr char kTrace[] = "I  04001000,4\n L 1ffeffe7e0,8\n";

void ExpectRefused(const Finished& done, const std::string& reason) {
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, StartsWith("lookaside: "));
  EXPECT_THAT(done.err, EndsWith(reason + "\n"));
}

TEST(StreamsTest, FullStandardOutputIsAnError) {
  for (const char* command : {"replay", "trace head", "trace info"}) {
    std::vector<std::string> arguments;
    std::istringstream words(command);
    for (std::string word; words >> word;) arguments.push_back(word);
    arguments.push_back("-");
    ExpectRefused(
        RunLookaside(arguments, {.input = kTrace, .redirect = "> /dev/full"}),
        "standard output cannot be written: No space left on device");
  }
  ExpectRefused(RunLookaside({"--help"}, {.redirect = "> /dev/full"}),
                "standard output cannot be written: No space left on device");
}

TEST(StreamsTest, FullJsonFileIsAnError) {
  ExpectRefused(
      RunLookaside({"replay", "-", "--json", "/dev/full"}, {.input = kTrace}),
      "/dev/full: cannot be written: No space left on device");
}

TEST(StreamsTest, DeviceIsWrittenAsItIs) {
  EXPECT_EQ(
      RunLookaside({"replay", "-", "--json", "/dev/null"}, {.input = kTrace})
          .status,
      0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(StreamsTest, ResultNeverReplacesAnInput) {
  const std::string directory = NewDirectory();
  const std::string config = "base = \"textbook\"\n";
  WriteFile(directory + "/t.lackey", kTrace);
  WriteFile(directory + "/c.toml", config);
  const std::vector<std::string> commands[] = {
      {"replay", "t.lackey", "--json", "./t.lackey"},
      {"replay", "t.lackey", "--config", "c.toml", "--json", "c.toml"},
      {"trace", "info", "t.lackey", "--json", "t.lackey"},
      {"config", "show", "--config", "c.toml", "--json", "c.toml"}};
  for (const std::vector<std::string>& command : commands) {
    const Finished done = RunLookaside(command, {.directory = directory});
    ExpectRefused(done, "itself; write the result to another file");
    EXPECT_EQ(done.out, "");
  }
  EXPECT_EQ(ReadFile(directory + "/t.lackey"), kTrace);
  EXPECT_EQ(ReadFile(directory + "/c.toml"), config);
}

TEST(StreamsTest, TheRefusalNamesTheOptionThatWasGiven) {
  const std::string directory = NewDirectory();
  WriteFile(directory + "/t.lackey", kTrace);
  const Finished done = RunLookaside(
      {"replay", "t.lackey", "--csv", "t.lackey"}, {.directory = directory});
  EXPECT_THAT(done.err, StartsWith("lookaside: --csv t.lackey: "));
}

TEST(StreamsTest, ClosedStandardOutputIsAnError) {
  const std::string directory = NewDirectory();
  WriteFile(directory + "/t.lackey", kTrace);
  ExpectRefused(RunLookaside({"replay", "t.lackey", "--json", "-"},
                             {.directory = directory, .redirect = ">&-"}),
                "standard output cannot be written: Bad file descriptor");
  EXPECT_EQ(ReadFile(directory + "/t.lackey"), kTrace);
}

TEST(StreamsTest, ReaderThatHasGoneEndsTheCommandQuietly) {
  // The pipe's reader is gone before the command writes.
  const std::string directory = NewDirectory();
  const std::string line =
      "mkfifo " + directory + "/pipe; exec 9<>" + directory + "/pipe; exec 8>" +
      directory + "/pipe; exec 9>&-; '" + Binary() + "' config list >&8 2> " +
      directory + "/err; echo $? > " + directory + "/status";
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(ReadFile(directory + "/status"), "0\n");
  EXPECT_EQ(ReadFile(directory + "/err"), "");
}

TEST(StreamsTest, NamesReachNoTerminalAsControlCharacters) {
  const std::string directory = NewDirectory();
  const std::string name = "a\033[31m\x9b\n.lackey";
  WriteFile(directory + "/" + name, kTrace);
  WriteFile(directory + "/" + name + ".toml",
            "base = \"textbook\"\n[replay]\nwarmup = 1\n");
  const std::vector<std::string> commands[] = {
      {"trace", "info", name},
      {"replay", name},
      {"replay", name, "--config", name + ".toml"},
      {"config", "check", name + ".toml"},
      {"config", "show", "--config", name + ".toml"},
      {"trace", "info", "no " + name},
      {"replay", name, "no " + name},
      {"no " + name}};
  for (const std::vector<std::string>& command : commands) {
    const Finished done = RunLookaside(command, {.directory = directory});
    const std::string shown = done.out + done.err;
    EXPECT_EQ(shown.find('\033'), std::string::npos) << command[0];
    EXPECT_EQ(shown.find('\x9b'), std::string::npos) << command[0];
    EXPECT_EQ(shown.find("\n.lackey"), std::string::npos) << command[0];
  }
}

TEST(StreamsTest, LongNamesAreClipped) {
  const std::string name(5000, 'x');
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"trace", "info", name},
        std::vector<std::string>{"config", "show", "--config", name},
        std::vector<std::string>{"replay", "--" + name},
        std::vector<std::string>{name}}) {
    const Finished done = RunLookaside(command);
    EXPECT_EQ(done.status, 2);
    EXPECT_LT(done.err.size(), 600u);
    EXPECT_THAT(done.err, testing::HasSubstr("xxx...xxx"));
  }
}

TEST(StreamsTest, InterruptLeavesNoFile) {
  const std::string directory = NewDirectory();
  // Standard input is a pipe that never ends.
  const std::string line =
      "cd " + directory +
      " && mkfifo pipe && exec 9<>pipe && cat t.lackey >&9 "
      "&& mkdir out && timeout -s INT 0.5 '" +
      Binary() + "' replay - --json out/out.json <&9 2> err";
  WriteFile(directory + "/t.lackey", kTrace);
  EXPECT_NE(std::system(line.c_str()), 0);
  EXPECT_EQ(ReadFile(directory + "/err"), "");
  EXPECT_TRUE(std::filesystem::is_empty(directory + "/out"));
}

// Each would overwrite the other, and the command would say that all is well.
TEST(Streams, JsonAndCsvUnderTwoNamesOfOneFileAreRefused) {
  const std::string directory = NewDirectory();
  WriteFile(directory + "/trace", " L 10000000,8\n");
  const Finished done =
      RunLookaside({"replay", "trace", "--json", "x", "--csv", "./x"},
                   {.directory = directory});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.err, "lookaside: --json x and --csv ./x name one file\n");
}

TEST(Streams, JsonToAPipeUnderItsNameInProcIsWritten) {
  const Finished done =
      RunLookaside({"replay", "-", "--json", "/dev/stdout"},
                   {.input = " L 10000000,8\n", .redirect = "| cat"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find("schema_version"), std::string::npos);
}

}  // namespace
}  // namespace lookaside
