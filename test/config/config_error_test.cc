// SPDX-License-Identifier: Apache-2.0
//
// The exact text of every error of the configuration.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"

namespace lookaside {
namespace {

struct ErrorCase {
  std::string input;
  std::string want;
};

void PrintTo(const ErrorCase& error, std::ostream* out) { *out << error.want; }

class FileErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(FileErrorTest, NamesPlaceKeyValueAndWhatIsAllowed) {
  const auto loaded = LoadConfigText("my.toml", GetParam().input);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(Message(loaded.status()), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, FileErrorTest,
    testing::Values(
        ErrorCase{"\n[tlb.stlb]\nway = 12\n",
                  "my.toml:3: tlb.stlb.way = 12: unknown key; did you mean "
                  "'tlb.stlb.ways'?"},
        ErrorCase{"walk.overlay = 0.5",
                  "my.toml:1: walk.overlay = 0.5: unknown key; did you mean "
                  "'walk.overlap'?"},
        ErrorCase{"[wlak]\noverlap = 0.5",
                  "my.toml:2: wlak.overlap = 0.5: unknown key; did you mean "
                  "'walk.overlap'?"},
        ErrorCase{"[machin]",
                  "my.toml:1: machin = {}: unknown key; did you mean "
                  "'machine.mhz'?"},
        ErrorCase{"\"machine.mhz\" = 5",
                  "my.toml:1: \"machine.mhz\" = 5: unknown key; did you mean "
                  "'machine.mhz'?"},
        ErrorCase{"machine = 5",
                  "my.toml:1: machine = 5: expected a table of keys"},
        ErrorCase{"tlb.stlb = 5",
                  "my.toml:1: tlb.stlb = 5: unknown key; did you mean "
                  "'tlb.stlb.smt'?"},
        ErrorCase{"base = \"skylake\"",
                  "my.toml:1: base = skylake: unknown preset; did you mean "
                  "'skylake-sp'? 'lookaside config list' lists all"},
        ErrorCase{"base = 3", "my.toml:1: base = 3: expected a string"},
        ErrorCase{"description = []",
                  "my.toml:1: description = []: expected a string"}));

INSTANTIATE_TEST_SUITE_P(
    Values, FileErrorTest,
    testing::Values(
        ErrorCase{"machine.sockets = \"two\"",
                  "my.toml:1: machine.sockets = \"two\": expected an integer "
                  "from 1 to 4096"},
        ErrorCase{"machine.sockets = 0",
                  "my.toml:1: machine.sockets = 0: expected an integer from 1 "
                  "to 4096"},
        ErrorCase{"machine.sockets = -1",
                  "my.toml:1: machine.sockets = -1: expected an integer from 1 "
                  "to 4096"},
        ErrorCase{"machine.sockets = 2.0",
                  "my.toml:1: machine.sockets = 2.0: expected an integer from "
                  "1 to 4096"},
        ErrorCase{"machine.mhz = 1979-05-27",
                  "my.toml:1: machine.mhz = (a date or time): expected an "
                  "integer from 1 to 100000"},
        ErrorCase{"machine.mhz = {}",
                  "my.toml:1: machine.mhz = {}: expected an integer from 1 to "
                  "100000"},
        ErrorCase{"machine.mhz.x = 1",
                  "my.toml:1: machine.mhz.x = 1: unknown key; did you mean "
                  "'machine.mhz'?"},
        ErrorCase{"machine.numa = 9",
                  "my.toml:1: machine.numa = 9: expected an integer from 1 to "
                  "8"},
        ErrorCase{"walk.overlap = 1.5",
                  "my.toml:1: walk.overlap = 1.5: expected a fraction from 0 "
                  "to 1 with at most three decimals"},
        ErrorCase{"walk.overlap = 0.1234",
                  "my.toml:1: walk.overlap = 0.1234: expected a fraction from "
                  "0 to 1 with at most three decimals"},
        ErrorCase{"walk.overlap = nan",
                  "my.toml:1: walk.overlap = nan: expected a fraction from 0 "
                  "to 1 with at most three decimals"},
        ErrorCase{"replay.strict = 1",
                  "my.toml:1: replay.strict = 1: expected true or false"},
        ErrorCase{"paging.node_memory = \"12X\"",
                  "my.toml:1: paging.node_memory = \"12X\": expected a size "
                  "from 1G to 4096T"},
        ErrorCase{"tlb.stlb.replacement = \"plru\"",
                  "my.toml:1: tlb.stlb.replacement = \"plru\": expected one of "
                  "lru, fifo, random, tree_plru, mru3_plru2, mru3_plru4; did "
                  "you mean 'lru'?"},
        ErrorCase{"tlb.stlb.pages = [\"4K\", \"4K\"]",
                  "my.toml:1: tlb.stlb.pages = [\"4K\", \"4K\"]: expected a "
                  "list of 4K, 2M, 1G, each at most once"},
        ErrorCase{"tlb.stlb.pages = [4096]",
                  "my.toml:1: tlb.stlb.pages = [4096]: expected a list of 4K, "
                  "2M, 1G, each at most once"},
        ErrorCase{"tlb.stlb.pcid_slots = \"many\"",
                  "my.toml:1: tlb.stlb.pcid_slots = \"many\": expected an "
                  "integer from 0 to 4096, or unlimited"}));

INSTANTIATE_TEST_SUITE_P(
    Together, FileErrorTest,
    testing::Values(
        ErrorCase{"[cost]\ninvlpg_ns = 80\ninvlpg_cycles = 200",
                  "my.toml:3: cost.invlpg_cycles = 200: cost.invlpg_ns is "
                  "given too; one unit is enough"},
        ErrorCase{"[tlb.victim]\nlevel = 2\nside = \"data\"\n",
                  "my.toml:2: tlb.victim: there is no such array, but itlb_4k, "
                  "itlb_2m, dtlb_4k, dtlb_2m, dtlb_1g, stlb, stlb_1g; a new "
                  "one lacks pages, entries, ways, replacement, hash, smt, "
                  "latency"},
        ErrorCase{"tlb.victim.entries = 0",
                  "my.toml:1: tlb.victim.entries = 0: there is no such array "
                  "to remove, but itlb_4k, itlb_2m, dtlb_4k, dtlb_2m, "
                  "dtlb_1g, stlb, stlb_1g"},
        ErrorCase{"\ntlb.stlb.ways = 7",
                  "my.toml:2: tlb.stlb.ways = 7: the ways must divide the "
                  "entries (1536)"},
        ErrorCase{"\n\npaging.levels = 5\nreplay.cpu = 96",
                  "my.toml:4: replay.cpu = 96: the machine has hardware "
                  "threads 0 to 95"}));

INSTANTIATE_TEST_SUITE_P(
    Syntax, FileErrorTest,
    testing::Values(
        ErrorCase{"[machine]\nmhz = 5\nmhz = 6",
                  "my.toml:3:7: Error while parsing key-value pair: cannot "
                  "redefine existing integer 'mhz'"},
        ErrorCase{"tlb.stlb.pages = [}",
                  "my.toml:1:19: Error while parsing value: could not "
                  "determine value type"},
        ErrorCase{"machine.mhz = ",
                  "my.toml:1:15: Error while parsing key-value pair: "
                  "encountered end-of-file"}));

class SetErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(SetErrorTest, BeginsWithTheOption) {
  const auto loaded =
      LoadConfig({.file = "", .cpu = "", .sets = {GetParam().input}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(Message(loaded.status()), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    All, SetErrorTest,
    testing::Values(
        ErrorCase{"tlb.stlb.ways", "--set tlb.stlb.ways: expected KEY=VALUE"},
        ErrorCase{"tlb.stlb.way=4",
                  "--set tlb.stlb.way = 4: unknown key; did you mean "
                  "'tlb.stlb.ways'?"},
        ErrorCase{"=4", "--set  = 4: unknown key; did you mean 'psc.pde'?"},
        ErrorCase{"tlb.stlb.ways=many",
                  "--set tlb.stlb.ways = many: expected an integer from 1 to "
                  "1048576"},
        ErrorCase{"tlb.stlb.ways=",
                  "--set tlb.stlb.ways = : expected an integer from 1 to "
                  "1048576"},
        ErrorCase{"tlb.stlb.ways=4\nmachine.mhz=7",
                  "--set tlb.stlb.ways = 4?machine.mhz=7: expected an integer "
                  "from 1 to 1048576"},
        ErrorCase{"tlb.victim.entries=16",
                  "--set tlb.victim.entries = 16: there is no such array, and "
                  "only a file can add one; did you mean "
                  "'tlb.stlb.entries'?"},
        ErrorCase{"tlb.stlb.entries=1000",
                  "--set tlb.stlb.ways = 12: the ways must divide the entries "
                  "(1000)"},
        ErrorCase{"replay.cpu=96",
                  "--set replay.cpu = 96: the machine has hardware threads 0 "
                  "to 95"},
        ErrorCase{"kernel.flush.ceiling=33",
                  "--set kernel.flush.ceiling = 33: unknown key; did you mean "
                  "'tlb.inclusion'?"}));

TEST(LoadConfig_Errors, UnknownPresetOfCpu) {
  const auto loaded = LoadConfig({.file = "", .cpu = "zen33", .sets = {}});
  EXPECT_EQ(Message(loaded.status()),
            "--cpu zen33: unknown preset; did you mean 'zen3'? 'lookaside "
            "config list' lists all");
}

TEST(LoadConfig_Errors, UnreadableFiles) {
  EXPECT_EQ(
      Message(
          LoadConfig({.file = "no/such.toml", .cpu = "", .sets = {}}).status()),
      "no/such.toml: cannot be read: No such file or directory");
  EXPECT_EQ(
      Message(LoadConfig({.file = "/dev", .cpu = "", .sets = {}}).status()),
      "/dev: cannot be read: Is a directory");
  EXPECT_EQ(
      Message(
          LoadConfig({.file = "/dev/zero", .cpu = "", .sets = {}}).status()),
      "/dev/zero: larger than 1 MiB, so no configuration file");
}

// A file in the test's own directory.
std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(LoadConfig_Errors, InheritanceInACircle) {
  WriteFile("a.toml", "base = \"./b.toml\"");
  const std::string b = WriteFile("b.toml", "\nbase = \"a.toml\"");
  const auto loaded = LoadConfig({.file = b, .cpu = "", .sets = {}});
  EXPECT_NE(Message(loaded.status())
                .find("a.toml:1: base = \"./b.toml\": the file inherits from "
                      "itself in the end"),
            std::string::npos)
      << loaded.status();
}

TEST(LoadConfig_Errors, BaseThatCannotBeRead) {
  const std::string path = WriteFile("c.toml", "base = \"gone.toml\"");
  const auto loaded = LoadConfig({.file = path, .cpu = "", .sets = {}});
  EXPECT_NE(Message(loaded.status()).find("c.toml:1: base = "),
            std::string::npos);
  EXPECT_NE(Message(loaded.status())
                .find("gone.toml: cannot be read: No such file or directory"),
            std::string::npos);
}

TEST(Set_Errors, HaveNoPlaceAndChangeNothing) {
  SimConfig config = *LoadPreset("skylake-sp");
  const SimConfig before = config;
  EXPECT_EQ(Message(Set(config, "walk.overlap", "2")),
            "walk.overlap = 2: expected a fraction from 0 to 1 with at most "
            "three decimals");
  EXPECT_EQ(config, before);
}

TEST(ApplyAssignments_Errors, NameTheOptionAndChangeNothing) {
  auto loaded = LoadConfig({});
  ASSERT_TRUE(loaded.ok());
  const SimConfig before = loaded->config;
  const std::string sets[] = {"machine.sockets=1", "replay.cpu=48"};
  EXPECT_EQ(Message(ApplyAssignments(*loaded, "--vary", sets)),
            "--vary replay.cpu = 48: the machine has hardware threads 0 to 47");
  EXPECT_EQ(loaded->config, before);
}

}  // namespace
}  // namespace lookaside
