// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/report/host_info.h"
#include "lookaside/report/result_json.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<TraceReader> OpenRecording() {
  return OpenTraceFromMemory("demo", DemoRecording().front().contents).value();
}

LoadedConfig Preset(const std::string& name) {
  return LoadConfig({.file = "", .cpu = name, .sets = {}}).value();
}

std::vector<Vary> ParseAll(const std::vector<std::string>& texts) {
  std::vector<Vary> varies;
  for (const std::string& text : texts) {
    varies.push_back(ParseVary(text).value());
  }
  return varies;
}

std::vector<SweepPoint> Grid(const std::string& preset,
                             const std::vector<std::string>& texts) {
  return MakeGrid(Preset(preset), ParseAll(texts)).value();
}

std::string JsonOf(const RunResult& result) { return ResultJson(result, {}); }

TEST(Sweep, TheGridHasEveryCombinationTheLastKeyFastest) {
  const auto points = Grid("textbook", {"tlb.stlb.entries=512,1024",
                                        "cost.instruction_cycles="
                                        "1..3"});
  ASSERT_EQ(points.size(), 6u);
  EXPECT_THAT(points[0].values, ElementsAre("512", "1"));
  EXPECT_THAT(points[2].values, ElementsAre("512", "3"));
  EXPECT_THAT(points[3].values, ElementsAre("1024", "1"));
  EXPECT_EQ(points[3].config.tlb.arrays[2].entries, 1024u);
}

TEST(Sweep, EveryPointIsItsOwnReplay) {
  const auto points =
      Grid("skylake-sp", {"tlb.stlb.entries=384,1536", "walk.overlap=0,0.333",
                          "paging.thp=never,always"});
  std::vector<std::string> separate;
  for (const SweepPoint& point : points) {
    const auto simulation = Simulation::Create(point.config, 7).value();
    const std::unique_ptr<TraceReader> reader = OpenRecording();
    separate.push_back(JsonOf(Replay(*simulation, *reader, {}).value()));
  }
  for (const unsigned jobs : {1u, 3u}) {
    const std::unique_ptr<TraceReader> reader = OpenRecording();
    const SweepResult sweep =
        RunSweep(points, *reader, {.seed = 7, .jobs = jobs}).value();
    ASSERT_EQ(sweep.results.size(), 8u);
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(JsonOf(sweep.results[i]), separate[i]) << i;
    }
  }
}

TEST(Sweep, PointsOfTheSameConfigurationAreOneLane) {
  auto points = Grid("textbook", {"walk.overlap=0,1"});
  points.insert(points.begin(), points.front());
  const std::unique_ptr<TraceReader> reader = OpenRecording();
  const SweepResult sweep = RunSweep(points, *reader, {}).value();
  EXPECT_THAT(sweep.lanes, ElementsAre(0, 0, 1));
  EXPECT_EQ(JsonOf(sweep.results[0]), JsonOf(sweep.results[1]));
}

std::string GridError(const std::vector<std::string>& texts) {
  const auto points = MakeGrid(Preset("textbook"), ParseAll(texts));
  EXPECT_FALSE(points.ok());
  return Message(points.status());
}

TEST(Sweep, GridErrorsNameKeyAndValue) {
  EXPECT_THAT(GridError({"tlb.stlb.entires=512"}),
              HasSubstr("tlb.stlb.entries"));
  EXPECT_THAT(GridError({"tlb.stlb.entries=512,many"}), HasSubstr("many"));
  EXPECT_THAT(GridError({"walk.overlap=0", "walk.overlap=1"}),
              HasSubstr("--vary walk.overlap is given twice"));
  EXPECT_EQ(GridError({"kernel.flush.ceiling=1,2", "walk.overlap=0.1,0.10"}),
            "--vary walk.overlap: 0.1 and 0.10 are the same value");
  EXPECT_THAT(GridError({"cost.instruction_cycles=1..1000",
                         "cost.fault_entry_cycles=1..1000"}),
              HasSubstr("more than 100000 points"));
}

TEST(Sweep, AnErrorNamesThePointThatCannotBePlayed) {
  const auto points = Grid("textbook", {"replay.strict=false,true"});
  const std::unique_ptr<TraceReader> reader = OpenRecording();
  const auto sweep = RunSweep(points, *reader, {});
  ASSERT_FALSE(sweep.ok());
  EXPECT_THAT(Message(sweep.status()), HasSubstr("at the point true: event 1"));
}

}  // namespace
}  // namespace lookaside
