// SPDX-License-Identifier: Apache-2.0
//
// The exact text of every error of the configuration.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"

namespace lookaside {
namespace {

// A file in the test's own directory.
std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

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
        ErrorCase{"=4",
                  "--set  = 4: unknown key; 'lookaside config show' lists all"},
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
                  "--set tlb.stlb.entries = 1000: tlb.stlb.ways = 12: the ways "
                  "must divide the entries (1000)"},
        ErrorCase{"replay.cpu=96",
                  "--set replay.cpu = 96: the machine has hardware threads 0 "
                  "to 95"},
        ErrorCase{"rcu.qhimark=10",
                  "--set rcu.qhimark = 10: unknown key; 'lookaside "
                  "config show' lists all"},
        ErrorCase{"xyzzy=1",
                  "--set xyzzy = 1: unknown key; 'lookaside config show' lists "
                  "all"},
        ErrorCase{"base=zen3",
                  "--set base = zen3: only a file has one; use --cpu"},
        ErrorCase{"description=mine",
                  "--set description = mine: only a file has one"}));

constexpr std::string_view kReserved =
    "tlb.inclusion: no array can have this name, which is a key of its own";

INSTANTIATE_TEST_SUITE_P(
    ArrayNames, FileErrorTest,
    testing::Values(
        ErrorCase{"[tlb.inclusion]", fmt::format("my.toml:1: {}", kReserved)},
        ErrorCase{"[tlb.inclusion]\nlevel = 1",
                  fmt::format("my.toml:2: {}", kReserved)},
        ErrorCase{"[tlb.inclusion]\nlevel = 1\nside = \"data\"\n"
                  "pages = [\"4K\"]\nentries = 8\nways = 8\n"
                  "replacement = \"lru\"\nhash = \"linear\"\n"
                  "smt = \"replicated\"\nlatency = 0",
                  fmt::format("my.toml:2: {}", kReserved)},
        ErrorCase{"[tlb.Bad]",
                  "my.toml:1: tlb.Bad = {}: the name of an array is at most 40 "
                  "lower-case letters, digits and _"},
        ErrorCase{"[tlb.\"a b\"]\nlevel = 1",
                  "my.toml:2: tlb.a b.level = 1: the name of an array is at "
                  "most 40 lower-case letters, digits and _"}));

INSTANTIATE_TEST_SUITE_P(ArrayNames, SetErrorTest,
                         testing::Values(ErrorCase{
                             "tlb.inclusion.level=1",
                             fmt::format("--set {}", kReserved)}));

INSTANTIATE_TEST_SUITE_P(ListInFile, FileErrorTest,
                         testing::Values(ErrorCase{
                             "tlb.stlb.pages = \"4K\"",
                             "my.toml:1: tlb.stlb.pages = \"4K\": expected a "
                             "list of 4K, 2M, 1G, each at most once"}));

// What the user set is named, not what the preset has.
INSTANTIATE_TEST_SUITE_P(
    Blame, SetErrorTest,
    testing::Values(
        ErrorCase{"walk.l1_lines=10",
                  "--set walk.l1_lines = 10: walk.l1_ways = 8: walk.l1_lines "
                  "(10) divided by the ways must be a power of two"},
        ErrorCase{"tlb.itlb_4k.entries=0",
                  "--set tlb.itlb_4k.entries = 0: no tlb.<name> of level 1 and "
                  "side \"inst\" holds 4K pages: each side needs one"},
        ErrorCase{"tlb.dtlb_4k.pages=2M",
                  "--set tlb.dtlb_4k.pages = [\"2M\"]: tlb.dtlb_4k and "
                  "tlb.dtlb_2m both hold 2M pages on level 1: such banks must "
                  "have the same number of sets (16 and 8)"},
        ErrorCase{"tlb.itlb_4k.side=data",
                  "--set tlb.itlb_4k.side = \"data\": no tlb.<name> of level 1 "
                  "and side \"inst\" holds 4K pages: each side needs one"},
        ErrorCase{"machine.sockets=1000",
                  "--set machine.sockets = 1000: machine: 1000 sockets of 24 "
                  "cores of 2 threads are 48000 hardware threads; at most 4096 "
                  "are possible"}));

std::string DeepKey(size_t dots) {
  std::string key = "a";
  for (size_t i = 0; i < dots; ++i) key += ".a";
  return key;
}

INSTANTIATE_TEST_SUITE_P(
    DeepKeys, FileErrorTest,
    testing::Values(
        ErrorCase{DeepKey(20'000) + " = 1",
                  "my.toml:1: a key has at most 64 dots"},
        ErrorCase{"\n[" + DeepKey(20'000) + "]",
                  "my.toml:2: a key has at most 64 dots"},
        ErrorCase{"x = [\"\"\"a\"\"\"\", {" + DeepKey(20'000) + " = 1}]",
                  "my.toml:1: a key has at most 64 dots"},
        ErrorCase{"x = '\\'\n" + DeepKey(65) + " = 1",
                  "my.toml:2: a key has at most 64 dots"},
        ErrorCase{"# " + DeepKey(99) + "\ndescription = \"" + DeepKey(99) +
                      "\"\nxyzzy = 1",
                  "my.toml:3: xyzzy = 1: unknown key; 'lookaside config show' "
                  "lists all"}));

TEST(LoadConfig_Errors, DeepKeysOfFilesAndOptionsAreRefused) {
  const std::string text = DeepKey(20'000) + " = 1";
  const std::string file = WriteFile("deep.toml", text);
  EXPECT_EQ(Message(LoadConfig({.file = file, .cpu = "", .sets = {}}).status()),
            file + ":1: a key has at most 64 dots");
  EXPECT_FALSE(
      LoadConfig(
          {.file = "", .cpu = "", .sets = {"walk.overlap={" + text + "}"}})
          .ok());
}

TEST(LoadConfig_Errors, DeepValuesAreRefused) {
  std::string text = "x = 1";
  for (int i = 0; i < 300; ++i) text = "x = {" + DeepKey(60) + "." + text + "}";
  EXPECT_FALSE(LoadConfigText("my.toml", text).ok());
}

TEST(LoadConfig_Errors, ClipWhatTheyEcho) {
  const std::string n(50'000, 'n');
  for (const std::string& text :
       {"[tlb." + n + "]", "[tlb." + n + "]\nlevel = 1", "[" + n + "]",
        n + " = 1", n + " = 1\n" + n + " = 2", "walk.overlap = \"" + n + "\"",
        "base = \"" + n + "\"", "[machine]\n" + n + ".x = 1"}) {
    const auto loaded = LoadConfigText("my.toml", text);
    ASSERT_FALSE(loaded.ok());
    EXPECT_LT(Message(loaded.status()).size(), 300u) << text.substr(0, 30);
  }
  for (const std::string& set :
       {n, n + "=1", "tlb." + n + ".ways=1", "walk.overlap=" + n}) {
    const auto loaded = LoadConfig({.file = "", .cpu = "", .sets = {set}});
    ASSERT_FALSE(loaded.ok());
    EXPECT_LT(Message(loaded.status()).size(), 300u) << set.substr(0, 30);
  }
  const std::string file = WriteFile("long.toml", "base = \"" + n + ".toml\"");
  const auto loaded = LoadConfig({.file = file, .cpu = "", .sets = {}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_LT(Message(loaded.status()).size(), file.size() + 300);
}

// Files chain0.toml to chain<n-1>.toml, each inheriting from the next, the last
// from a preset; the path of the first.
std::string WriteChain(int n) {
  for (int i = 0; i < n; ++i) {
    const std::string base =
        i + 1 < n ? fmt::format("chain{}.toml", i + 1) : "zen3";
    WriteFile(fmt::format("chain{}.toml", i), "base = \"" + base + "\"");
  }
  return testing::TempDir() + "chain0.toml";
}

TEST(LoadConfig_Errors, LongChainIsNotCalledACircle) {
  EXPECT_TRUE(LoadConfig({.file = WriteChain(16), .cpu = "", .sets = {}}).ok());
  const auto loaded =
      LoadConfig({.file = WriteChain(17), .cpu = "", .sets = {}});
  EXPECT_NE(Message(loaded.status())
                .find("chain15.toml:1: base = \"chain16.toml\": more than 16 "
                      "files inherit from one another"),
            std::string::npos)
      << loaded.status();
}

TEST(LoadConfig_Errors, CircleThroughASymbolicLink) {
  const std::string path = WriteFile("self.toml", "base = \"link.toml\"");
  std::error_code ignored;
  std::filesystem::create_symlink("self.toml", testing::TempDir() + "link.toml",
                                  ignored);
  const auto loaded = LoadConfig({.file = path, .cpu = "", .sets = {}});
  EXPECT_NE(Message(loaded.status())
                .find("self.toml:1: base = \"link.toml\": the file inherits "
                      "from itself in the end"),
            std::string::npos)
      << loaded.status();
}

TEST(LoadConfig_Errors, BlameTheLinesRatherThanTheWaysOfThePreset) {
  const auto loaded =
      LoadConfig({.file = "", .cpu = "textbook", .sets = {"walk.l1_lines=10"}});
  EXPECT_EQ(Message(loaded.status()),
            "--set walk.l1_lines = 10: walk.l1_ways = 0: walk.l1_lines (10) "
            "divided by the ways must be a power of two");
}

TEST(LoadConfig_Errors, UnknownPresetOfCpuThatIsLikeNone) {
  const auto loaded = LoadConfig({.file = "", .cpu = "xyzzy", .sets = {}});
  EXPECT_EQ(Message(loaded.status()),
            "--cpu xyzzy: unknown preset; 'lookaside config list' lists all");
}

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
