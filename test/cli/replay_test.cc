// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lookaside/test/cli/command_runner.h"
#include "nlohmann/json.hpp"

namespace lookaside {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::ordered_json;

// Two pages of code and 100 of data, in two rounds, with each kind of event.
std::string SmallTrace() {
  std::string text;
  char line[64];
  for (int i = 0; i < 200; ++i) {
    const int page = i % 100;
    snprintf(line, sizeof line, "I  %08x,4\n %c %08x,8\n",
             0x400000 + 4096 * (i % 2), "LSM"[i % 3], 0x10000000 + 4096 * page);
    text += line;
  }
  return text;
}

Json Result(const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"replay", "-", "--json", "-"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Finished done = RunLookaside(arguments, {.input = SmallTrace()});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.err, "");
  return Json::parse(done.out);
}

std::vector<std::string> Keys(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

TEST(ResultJsonTest, HasTheKeysOfTheSchemaInOrder) {
  const Json json = Result();
  using ::testing::ElementsAre;
  EXPECT_THAT(
      Keys(json),
      ElementsAre("schema_version", "tool", "config", "config_hash", "trace",
                  "seed", "warnings", "totals", "checks", "cpus", "host"));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["tool"].dump(), R"({"name":"lookaside","version":"0.1.0"})");
  EXPECT_THAT(
      Keys(json["trace"][0]),
      ElementsAre("name", "format", "xxh3", "events", "accesses", "skipped"));
  EXPECT_THAT(Keys(json["totals"]),
              ElementsAre("instructions", "loads", "stores", "ifetches", "tlb",
                          "translation", "faults", "flush", "tables", "cycles",
                          "elapsed_cycles", "cycles_by_kind"));
  EXPECT_THAT(Keys(json["totals"]["tlb"]["stlb"]),
              ElementsAre("lookups", "hits", "misses", "fills", "evictions",
                          "invalidated"));
  EXPECT_THAT(
      Keys(json["totals"]["translation"]),
      ElementsAre("l1_hits", "stlb_hits", "walks", "walk_loads",
                  "walk_loads_by_level", "walk_loads_by_place", "psc_hits",
                  "dirty_assists", "dirty_assist_loads", "fault_walk_loads"));
  EXPECT_THAT(Keys(json["totals"]["translation"]["walk_loads_by_level"]),
              ElementsAre("pml4e", "pdpte", "pde", "pte"));
  EXPECT_THAT(Keys(json["totals"]["translation"]["psc_hits"]),
              ElementsAre("pml5e", "pml4e", "pdpte", "pde"));
  EXPECT_THAT(Keys(json["totals"]["faults"]),
              ElementsAre("minor", "major", "cow", "spurious", "denied",
                          "thp_fallback"));
  EXPECT_THAT(Keys(json["host"]),
              ElementsAre("compiler", "commit", "wall_s", "accesses_per_s",
                          "peak_rss_bytes"));
}

TEST(ResultJsonTest, HasALevelMoreWithFiveLevelPaging) {
  const Json json = Result({"--set", "paging.levels=5"});
  const Json& levels = json["totals"]["translation"]["walk_loads_by_level"];
  EXPECT_EQ(Keys(levels).front(), "pml5e");
  EXPECT_EQ(json["config"]["paging"]["levels"], 5);
}

// Of every number but `elapsed_cycles`, which is the largest.
void ExpectSum(const Json& total, const std::vector<Json>& parts,
               const std::string& path) {
  for (const auto& [key, value] : total.items()) {
    const std::string here = path + "." + key;
    if (key == "tables" || key == "elapsed_cycles") continue;
    std::vector<Json> below;
    uint64_t sum = 0;
    for (const Json& part : parts) {
      ASSERT_TRUE(part.contains(key)) << here;
      below.push_back(part[key]);
      if (value.is_number()) sum += part[key].get<uint64_t>();
    }
    if (value.is_object()) {
      ExpectSum(value, below, here);
    } else {
      EXPECT_EQ(value.get<uint64_t>(), sum) << here;
    }
  }
}

uint64_t Sum(const Json& json) {
  uint64_t sum = 0;
  for (const auto& [key, value] : json.items()) sum += value.get<uint64_t>();
  return sum;
}

TEST(ResultJsonTest, SumsHold) {
  const Json json = Result({"--cpu", "haswell-ep", "--set", "replay.cpu=3"});
  const Json& totals = json["totals"];
  ExpectSum(totals, json["cpus"].get<std::vector<Json>>(), "totals");
  ASSERT_EQ(json["cpus"].size(), 1u);
  EXPECT_EQ(json["cpus"][0]["cpu"], 3);
  for (const auto& [name, tlb] : totals["tlb"].items()) {
    EXPECT_EQ(tlb["hits"].get<uint64_t>() + tlb["misses"].get<uint64_t>(),
              tlb["lookups"].get<uint64_t>())
        << name;
  }
  EXPECT_EQ(Sum(totals["cycles_by_kind"]) -
                totals["cycles_by_kind"]["idle"].get<uint64_t>(),
            totals["cycles"].get<uint64_t>());
  const Json& translation = totals["translation"];
  EXPECT_EQ(Sum(translation["walk_loads_by_level"]), translation["walk_loads"]);
  EXPECT_EQ(Sum(translation["walk_loads_by_place"]), translation["walk_loads"]);
  const uint64_t accesses = totals["loads"].get<uint64_t>() +
                            totals["stores"].get<uint64_t>() +
                            totals["ifetches"].get<uint64_t>();
  EXPECT_EQ(json["trace"][0]["accesses"], accesses);
  EXPECT_EQ(translation["l1_hits"].get<uint64_t>() +
                translation["stlb_hits"].get<uint64_t>() +
                translation["walks"].get<uint64_t>(),
            accesses);  // none of them spans two pages
}

TEST(ResultJsonTest, HasOnlyIntegersOutsideHostAndConfig) {
  Json json = Result();
  json.erase("host");
  json.erase("config");
  EXPECT_EQ(json.dump().find_first_of("."), json.dump().find("0.1.0") + 1);
}

TEST(ResultJsonTest, OfTwoRunsIsTheSameOutsideHost) {
  const std::vector<std::string> arguments = {
      "replay", "-", "--json", "-", "--set", "tlb.dtlb_4k.replacement=random",
      "--seed", "7"};
  const Finished a = RunLookaside(arguments, {.input = SmallTrace()});
  const Finished b = RunLookaside(arguments, {.input = SmallTrace()});
  EXPECT_EQ(WithoutHost(a.out), WithoutHost(b.out));
  EXPECT_EQ(Json::parse(a.out)["seed"], 7);
}

TEST(ResultJsonTest, ConfigIsWhatItWasSetTo) {
  const Json json =
      Result({"--cpu", "textbook", "--set", "tlb.stlb.entries=512", "--set",
              "walk.overlap=0.25"});
  EXPECT_EQ(json["config"]["tlb"]["stlb"]["entries"], 512);
  EXPECT_EQ(json["config"]["tlb"]["stlb"]["pages"].dump(), R"(["4K"])");
  EXPECT_EQ(json["config"]["walk"]["overlap"].dump(), "0.25");
  EXPECT_EQ(json["config_hash"].get<std::string>().size(), 32u);
}

TEST(ReplayTest, ReportGoesToStandardOutputBesideAJsonFile) {
  const std::string directory = NewDirectory();
  const Finished done =
      RunLookaside({"replay", "-", "--json", "out.json"},
                   {.input = SmallTrace(), .directory = directory});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_THAT(done.out, StartsWith("trace     - (lackey), 400 events"));
  EXPECT_EQ(Json::parse(ReadFile(directory + "/out.json"))["schema_version"],
            1);
  EXPECT_EQ(ReadFile(directory + "/out.json").back(), '\n');
}

TEST(ReplayTest, JsonAsLastWordIsStandardOutput) {
  const Finished done =
      RunLookaside({"replay", "-", "--json"}, {.input = SmallTrace()});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(Json::parse(done.out)["schema_version"], 1);
}

TEST(ReplayTest, HasNoColoursWithOrWithoutNoColor) {
  const Finished plain = RunLookaside({"replay", "-"}, {.input = SmallTrace()});
  const Finished no_color = RunLookaside(
      {"replay", "-"}, {.input = SmallTrace(), .variables = {"NO_COLOR=1"}});
  EXPECT_EQ(plain.out.find('\033'), std::string::npos);
  EXPECT_EQ(plain.out, no_color.out);
}

TEST(ReplayTest, LinesFitAHundredColumns) {
  const Finished done = RunLookaside({"replay", "-"}, {.input = SmallTrace()});
  std::istringstream lines(done.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(ReplayTest, FileThatFailsLeavesNothing) {
  const std::string directory = NewDirectory();
  const Finished done = RunLookaside(
      {"replay", "-", "--json", "out.json"},
      {.input = SmallTrace() + "no lackey\n", .directory = directory});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST(ReplayTest, ResultBeforeStaysWhenTheReplayFails) {
  const std::string directory = NewDirectory();
  WriteFile(directory + "/out.json", "before");
  RunLookaside({"replay", "-", "--json", "out.json"},
               {.input = "no lackey\n", .directory = directory});
  EXPECT_EQ(ReadFile(directory + "/out.json"), "before");
}

TEST(ReplayTest, SymbolicLinkStaysOne) {
  const std::string directory = NewDirectory();
  std::filesystem::create_symlink("real.json", directory + "/link.json");
  const Finished done =
      RunLookaside({"replay", "-", "--json", "link.json"},
                   {.input = SmallTrace(), .directory = directory});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(std::filesystem::is_symlink(directory + "/link.json"));
  EXPECT_TRUE(std::filesystem::is_regular_file(directory + "/real.json"));
}

TEST(ReplayTest, RelativePathsMeanTheCurrentDirectory) {
  const std::string directory = NewDirectory();
  std::filesystem::create_directory(directory + "/sub");
  WriteFile(directory + "/t.lackey", SmallTrace());
  WriteFile(directory + "/base.toml", "base = \"textbook\"\n");
  WriteFile(directory + "/sub/my.toml", "base = \"../base.toml\"\n");
  const Finished done = RunLookaside(
      {"replay", "t.lackey", "--config", "sub/my.toml", "--json", "-"},
      {.directory = directory});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(Json::parse(done.out)["config"]["tlb"]["stlb"]["entries"], 1024);
}

// As `bazel run` calls it.
TEST(ReplayTest, RelativePathsMeanTheUsersDirectoryUnderBazelRun) {
  const std::string directory = NewDirectory();
  const std::string runfiles = directory + "/lookaside.runfiles/lookaside";
  std::filesystem::create_directories(runfiles);
  std::filesystem::create_directory(directory + "/user");
  WriteFile(directory + "/user/t.lackey", SmallTrace());
  WriteFile(directory + "/user/my.toml", "base = \"textbook\"\n");
  const std::string variable = "BUILD_WORKING_DIRECTORY=" + directory + "/user";
  const Finished done = RunLookaside(
      {"replay", "t.lackey", "--config", "my.toml", "--json", "r.json"},
      {.directory = runfiles, .variables = {variable}});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(std::filesystem::exists(directory + "/user/r.json"));
  // Anywhere else the variable is somebody else's.
  EXPECT_EQ(RunLookaside({"replay", "t.lackey"},
                         {.directory = directory, .variables = {variable}})
                .status,
            2);
}

TEST(TraceTest, InfoCountsWhatIsThere) {
  const Finished done =
      RunLookaside({"trace", "info", "-", "--json"}, {.input = SmallTrace()});
  EXPECT_EQ(done.status, 0) << done.err;
  const Json trace = Json::parse(done.out)["traces"][0];
  EXPECT_EQ(trace["events"], 400);
  EXPECT_EQ(trace["fetches"], 200);
  EXPECT_EQ(trace["loads"], 67);
  EXPECT_EQ(trace["stores"], 67);
  EXPECT_EQ(trace["modifies"], 66);
  EXPECT_EQ(trace["accesses"], 466);
  EXPECT_EQ(trace["instruction_pages"], 2);
  EXPECT_EQ(trace["data_pages"], 100);
  EXPECT_EQ(trace["threads"], 1);
  EXPECT_THAT(RunLookaside({"trace", "info", "-"}, {.input = SmallTrace()}).out,
              HasSubstr("4K pages  2 of instructions, 100 of data\n"));
}

TEST(TraceTest, HeadPrintsTheFirstEvents) {
  const Finished done =
      RunLookaside({"trace", "head", "-n", "2", "-"}, {.input = SmallTrace()});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out,
            "   event  thread  kind    address             bytes\n"
            "       1       0  fetch   0x0000000000400000      4\n"
            "       2       0  load    0x0000000010000000      8\n");
}

// With one call that succeeds and one that fails, by two threads.
constexpr char kCalls[] =
    "--7--   SCHED[1]:  acquired lock (x)\n"
    "I  00400000,4\n"
    "SYSCALL[7,1](12) sys_brk ( 0x0 ) --> [pre-success] Success(0x5000) \n"
    "--7--   SCHED[2]:  acquired lock (x)\n"
    "SYSCALL[7,2](11) sys_munmap ( 0x123, 4096 )[sync] --> Failure(0x16) \n"
    " L 10000000,8\n";

TEST(TraceTest, HeadShowsCallsNumberedApart) {
  const Finished done = RunLookaside({"trace", "head", "-"}, {.input = kCalls});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out,
            "   event  thread  kind    address             bytes\n"
            "       1       0  fetch   0x0000000000400000      4\n"
            "  call 1       0  brk(0x0) = 0x5000\n"
            "  call 2       1  munmap(0x123, 4096) = -1 EINVAL\n"
            "       2       1  load    0x0000000010000000      8\n");
}

TEST(TraceTest, InfoCountsCallsAndThreads) {
  const Finished done = RunLookaside({"trace", "info", "-"}, {.input = kCalls});
  EXPECT_THAT(done.out,
              HasSubstr("\ncalls     2: 1 munmap, 1 brk; 1 of them failed\n"
                        "threads   2\n"));
  const Json trace = Json::parse(
      RunLookaside({"trace", "info", "-", "--json"}, {.input = kCalls})
          .out)["traces"][0];
  EXPECT_EQ(trace["events"], 2);
  EXPECT_EQ(trace["calls"]["munmap"], 1);
  EXPECT_EQ(trace["calls"]["brk"], 1);
  EXPECT_EQ(trace["calls"]["mmap"], 0);
  EXPECT_EQ(trace["failed_calls"], 1);
  EXPECT_EQ(trace["threads"], 2);
  EXPECT_EQ(trace["processes"], 1);
}

TEST(ConfigTest, ShowIsAFileThatGivesTheSameConfiguration) {
  const std::string directory = NewDirectory();
  const std::vector<std::string> sets = {"--set", "tlb.stlb.latency=7"};
  const Finished shown =
      RunLookaside({"config", "show", "skylake-sp", sets[0], sets[1]});
  EXPECT_EQ(shown.status, 0) << shown.err;
  WriteFile(directory + "/my.toml", shown.out);
  const Finished again =
      RunLookaside({"config", "show", "--config", "my.toml", "--json"},
                   {.directory = directory});
  const Finished direct = RunLookaside(
      {"config", "show", "--cpu", "skylake-sp", sets[0], sets[1], "--json"});
  EXPECT_EQ(again.out, direct.out);
  EXPECT_EQ(
      RunLookaside({"config", "check", "my.toml"}, {.directory = directory})
          .status,
      0);
}

TEST(ConfigTest, ShowWithAJsonFilePrintsNothingElse) {
  const std::string directory = NewDirectory();
  const Finished done =
      RunLookaside({"config", "show", "textbook", "--json", "c.json"},
                   {.directory = directory});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(Json::parse(ReadFile(directory + "/c.json"))["schema_version"], 1);
}

TEST(ReplayTest, ReportShowsTheSeed) {
  const Finished done =
      RunLookaside({"replay", "-", "--seed", "7"}, {.input = SmallTrace()});
  EXPECT_THAT(done.out, HasSubstr("\nseed      7\n"));
}

TEST(ReplayTest, OneOfAThingIsSingular) {
  const Finished done = RunLookaside(
      {"replay", "-"}, {.input = "I  1000,4\n\n--7--   SCHED[1]: x\n"});
  EXPECT_THAT(done.out, HasSubstr("1 event, 1 scheduling line skipped, 1 blank "
                                  "line skipped\n"));
  EXPECT_THAT(done.out, HasSubstr("1: 1 instruction fetch, 0 loads"));
  EXPECT_THAT(done.out, HasSubstr("1 of 1 walk was a first touch"));
}

TEST(ConfigTest, ListHasThePresets) {
  const Finished done = RunLookaside({"config", "list"});
  EXPECT_THAT(done.out, HasSubstr("\nskylake-sp "));
  EXPECT_THAT(done.out, HasSubstr("\ntextbook "));
  EXPECT_THAT(done.out, HasSubstr("(default)\n"));
}

// It went on to claim the preset's 48 cores.
TEST(ReplayTest, TheMachineLineTellsWhatWasChanged) {
  const Finished done =
      RunLookaside({"replay", "-", "--set", "machine.cores_per_socket=2"},
                   {.input = "I  0401ab70,3\n"});
  EXPECT_THAT(done.out, HasSubstr("machine.cores_per_socket=2, so 4 cores, 8"));
}

TEST(DemoTest, RunsAnywhereWithoutFiles) {
  const std::string directory = NewDirectory();
  const Finished done = RunLookaside({"demo"}, {.directory = directory});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("machine   skylake-sp: "));
  EXPECT_THAT(done.out, HasSubstr("\nNext, "));
  for (const char* end : {"walk.overlap = 1: ", "walk.data_pressure = 1: ",
                          "kernel.footprint = 32: "}) {
    EXPECT_THAT(done.out, HasSubstr(std::string("\nbest at   ") + end));
  }
  EXPECT_THAT(done.out, Not(HasSubstr("(default)")));
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST(ConvertTest, ANativeTraceReplaysAsWhatItWasMadeFrom) {
  const std::string path = NewDirectory() + "/small.lkt";
  const Finished done =
      RunLookaside({"trace", "convert", "-", path}, {.input = SmallTrace()});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, StartsWith(path + ": 466 accesses in "));
  const Finished replay = RunLookaside({"replay", path, "--json", "-"});
  ASSERT_EQ(replay.status, 0) << replay.err;
  Json native = Json::parse(replay.out);
  Json text = Result();
  for (Json* result : {&native, &text}) {
    result->erase("host");
    result->erase("trace");
  }
  EXPECT_EQ(native, text);
}

// A generator's set-up is not counted, and nobody let its threads take turns.
TEST(ConvertTest, AConvertedGeneratorReplaysAsTheGenerator) {
  const std::string generator = "gen:mprotect,t=2,n=4,p=16,l=5,size=1M";
  const std::string path = NewDirectory() + "/generated.lkt";
  ASSERT_EQ(RunLookaside({"trace", "convert", generator, path}).status, 0);
  std::vector<Json> results;
  for (const std::string& trace : {generator, path}) {
    const Finished done = RunLookaside(
        {"replay", trace, "--set", "replay.order=recorded", "--json", "-"});
    ASSERT_EQ(done.status, 0) << done.err;
    results.push_back(Json::parse(done.out));
    results.back().erase("host");
    results.back().erase("trace");
  }
  EXPECT_EQ(results[0], results[1]);
  // In a sweep too.
  const Finished sweep =
      RunLookaside({"sweep", path, "--vary", "kernel.flush.ceiling=1,8",
                    "--set", "replay.order=recorded", "--json", "-"});
  ASSERT_EQ(sweep.status, 0) << sweep.err;
  EXPECT_EQ(Json::parse(sweep.out)["points"][0]["result"]["totals"]["stores"],
            0);
}

TEST(ConvertTest, ABadTraceLeavesNoFile) {
  const std::string directory = NewDirectory();
  const Finished done =
      RunLookaside({"trace", "convert", "-", directory + "/x.lkt"},
                   {.input = SmallTrace() + "I  04"});
  EXPECT_EQ(done.status, 2);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

}  // namespace
}  // namespace lookaside
