// SPDX-License-Identifier: Apache-2.0
//
// Points that share simulations give what each gives alone.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/report/host_info.h"
#include "lookaside/report/result_json.h"
#include "lookaside/sweep/sweep.h"
#include "lookaside/test/sweep/random_program.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/vector_reader.h"

namespace lookaside {
namespace {

RecordedProgram DecodeRecording() {
  const std::unique_ptr<TraceReader> reader =
      OpenTraceFromMemory("demo", DemoRecording().front().contents).value();
  RecordedProgram decoded;
  std::vector<TraceEvent> buffer(kBufferEvents);
  while (const size_t n = reader->Read(buffer)) {
    decoded.events.insert(decoded.events.end(), buffer.begin(),
                          buffer.begin() + static_cast<std::ptrdiff_t>(n));
    const auto calls = reader->calls();
    decoded.calls.insert(decoded.calls.end(), calls.begin(), calls.end());
  }
  return decoded;
}

std::vector<SweepPoint> Grid(const std::string& preset,
                             const std::vector<std::string>& varies,
                             const std::vector<std::string>& sets = {}) {
  const LoadedConfig loaded =
      LoadConfig({.file = "", .cpu = preset, .sets = sets}).value();
  std::vector<Vary> parsed;
  for (const std::string& vary : varies) {
    parsed.push_back(ParseVary(vary).value());
  }
  return MakeGrid(loaded, parsed).value();
}

std::string JsonOf(const RunResult& result) { return ResultJson(result, {}); }

std::string Alone(const SweepPoint& point, VectorReader& reader) {
  reader.Rewind();
  const auto simulation = Simulation::Create(point.config, 7).value();
  return JsonOf(Replay(*simulation, reader, {}).value());
}

SweepResult ExpectAsAlone(const std::vector<SweepPoint>& points,
                          const RecordedProgram& decoded) {
  VectorReader reader("mine", decoded.events, decoded.calls);
  const SweepResult sweep =
      RunSweep(points, reader, {.seed = 7, .jobs = 2}).value();
  EXPECT_EQ(sweep.results.size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(JsonOf(sweep.results[i]), Alone(points[i], reader)) << i;
  }
  return sweep;
}

size_t CountLanes(const SweepResult& sweep) {
  return std::set<size_t>(sweep.lanes.begin(), sweep.lanes.end()).size();
}

TEST(Lanes, ThresholdsBetweenTwoFlushSizesAreOneLane) {
  const RecordedProgram recording = DecodeRecording();
  const auto points =
      Grid("skylake-sp", {"kernel.flush.ceiling=0,1,2,3,4,5,8,12,16,17,32,40"});
  const SweepResult sweep = ExpectAsAlone(points, recording);
  EXPECT_GT(CountLanes(sweep), 3u);
  EXPECT_LT(CountLanes(sweep), points.size());
  EXPECT_LE(sweep.simulations, CountLanes(sweep) + 1);
}

TEST(Lanes, PoliciesThatDecideAlikeShare) {
  const RecordedProgram recording = DecodeRecording();
  const auto points =
      Grid("nehalem-ep",
           {"kernel.version=linux_3.6",
            "kernel.flush.policy=shift,ceiling,never_full,early_ack,bound",
            "kernel.flush.ceiling=4,33", "kernel.flush.shift=1,9"});
  EXPECT_LT(CountLanes(ExpectAsAlone(points, recording)), points.size() / 2);
}

// The ceiling also limits what is owed to the user half: no plan tells.
TEST(Lanes, CeilingsThatLimitInContextFlushesShareNothing) {
  ExpectAsAlone(Grid("skylake-sp", {"kernel.flush.ceiling=1,4,16,64"},
                     {"kernel.kpti=true", "kernel.flush.in_context=true"}),
                DecodeRecording());
}

TEST(Lanes, APolicyThatKnowsTheFutureHasALaneOfItsOwn) {
  const auto points = Grid(
      "skylake-sp", {"kernel.flush.policy=ceiling,clairvoyant,always_full",
                     "kernel.flush.ceiling=1,40", "replay.foresight=1,100000"});
  ExpectAsAlone(points, DecodeRecording());
}

TEST(Lanes, WarmUpIsEachPointsOwn) {
  const RecordedProgram recording = DecodeRecording();
  for (const std::string warmup : {"100000", "2500000", "99999999"}) {
    ExpectAsAlone(Grid("broadwell-ep", {"kernel.flush.ceiling=0,1,8,64"},
                       {"replay.warmup=" + warmup}),
                  recording);
  }
}

TEST(Lanes, SplitAndJoinedLanesGiveWhatEachPointGivesAlone) {
  size_t joins = 0;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const RecordedProgram program = RandomProgram(seed).Run(3);
    for (const std::string version : {"linux_3.17", "linux_6.15"}) {
      for (const std::string placement : {"pack", "spread"}) {
        const auto points =
            Grid("textbook", {"kernel.flush.ceiling=0..40:3"},
                 {"kernel.version=" + version, "replay.placement=" + placement,
                  "machine.cores_per_socket=4"});
        joins += ExpectAsAlone(points, program).joins;
      }
    }
  }
  EXPECT_GT(joins, 10u);
}

TEST(Lanes, JoinedHyperThreadsAndPageTableLinesGiveTheSame) {
  const RecordedProgram program = RandomProgram(9).Run(3);
  const auto points = Grid("haswell-ep", {"kernel.flush.ceiling=0..40:3"},
                           {"replay.placement=pack", "replay.warmup=1000"});
  ExpectAsAlone(points, program);
}

}  // namespace
}  // namespace lookaside
