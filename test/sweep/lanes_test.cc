// SPDX-License-Identifier: Apache-2.0
//
// Points that share simulations give what each gives alone.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/report/host_info.h"
#include "lookaside/report/result_json.h"
#include "lookaside/sweep/sweep.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/vector_reader.h"

namespace lookaside {
namespace {

struct Decoded {
  std::vector<TraceEvent> events;
  std::vector<MemoryCall> calls;
};

Decoded DecodeRecording() {
  const std::unique_ptr<TraceReader> reader =
      OpenTraceFromMemory("demo", DemoRecording().front().contents).value();
  Decoded decoded;
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
                          const Decoded& decoded) {
  VectorReader reader("mine", decoded.events, decoded.calls);
  const SweepResult sweep =
      RunSweep(points, reader, {.seed = 7, .jobs = 2}).value();
  EXPECT_EQ(sweep.results.size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(JsonOf(sweep.results[i]), Alone(points[i], reader)) << i;
  }
  return sweep;
}

TEST(Lanes, ThresholdsBetweenTwoFlushSizesAreOneLane) {
  const Decoded recording = DecodeRecording();
  const auto points = Grid("skylake-sp", {"kernel.flush.ceiling=0..40"});
  const SweepResult sweep = ExpectAsAlone(points, recording);
  EXPECT_GT(sweep.lanes, 3u);
  EXPECT_LT(sweep.lanes, 16u);
  EXPECT_LE(sweep.simulations, sweep.lanes + 1);
}

TEST(Lanes, PoliciesThatDecideAlikeShare) {
  const Decoded recording = DecodeRecording();
  const auto points =
      Grid("nehalem-ep",
           {"kernel.version=linux_3.6,linux_5.13",
            "kernel.flush.policy=shift,ceiling,never_full,early_ack,bound",
            "kernel.flush.ceiling=4,33", "kernel.flush.shift=1,9"});
  EXPECT_LT(ExpectAsAlone(points, recording).lanes, points.size() / 2);
}

TEST(Lanes, WarmUpIsEachPointsOwn) {
  const Decoded recording = DecodeRecording();
  for (const std::string warmup : {"100000", "2500000", "99999999"}) {
    ExpectAsAlone(Grid("broadwell-ep", {"kernel.flush.ceiling=0,1,8,64"},
                       {"replay.warmup=" + warmup}),
                  recording);
  }
}

// Threads that touch, unmap and protect pages of one region, some phases with
// calls and long ones without, in which TLBs become alike again.
class Program {
 public:
  explicit Program(uint64_t seed) : rng_(seed) {
    Map(0, kPages);
    for (uint32_t thread = 1; thread < kThreads; ++thread) {
      MemoryCall clone;
      clone.kind = CallKind::kClone;
      clone.flags = kCloneFlagVm | kCloneFlagThread;
      clone.child = thread;
      Add(clone);
    }
  }

  Decoded Run(int phases) {
    for (int phase = 0; phase < phases; ++phase) {
      for (int i = 0; i < 40; ++i) {
        Accesses(rng_.Below(200));
        Call();
      }
      Accesses(150'000);
    }
    return std::move(program_);
  }

 private:
  static constexpr uint64_t kPages = 96;
  static constexpr uint32_t kThreads = 3;

  static VirtAddr At(uint64_t page) {
    return VirtAddr(0x7000'0000'0000 + page * 4096);
  }

  void Add(MemoryCall call) {
    call.thread = thread_;
    program_.events.push_back({VirtAddr(0), 0, EventKind::kCall, 0, thread_});
    program_.calls.push_back(call);
  }
  void Map(uint64_t page, uint64_t pages) {
    MemoryCall map;
    map.kind = CallKind::kMmap;
    map.result = At(page);
    map.length = pages * 4096;
    map.prot = kProtRead | kProtWrite;
    map.flags = kMapPrivate | kMapAnonymous | kMapFixed;
    Add(map);
  }
  void Call() {
    MemoryCall call;
    const uint64_t page = rng_.Below(kPages);
    const uint64_t pages =
        1 + rng_.Below(std::min<uint64_t>(40, kPages - page));
    call.kind = rng_.Below(2) == 0 ? CallKind::kMunmap : CallKind::kMprotect;
    call.address = At(page);
    call.length = pages * 4096;
    call.prot = kProtRead;
    Add(call);
    Map(page, pages);
  }
  void Accesses(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      if (rng_.Below(500) == 0) {
        thread_ = static_cast<uint32_t>(rng_.Below(kThreads));
      }
      program_.events.push_back(
          {At(rng_.Below(kPages)), 8,
           rng_.Below(3) == 0 ? EventKind::kStore : EventKind::kLoad, 0,
           thread_});
    }
  }

  Rng rng_;
  Decoded program_;
  uint32_t thread_ = 0;
};

TEST(Lanes, SplitAndJoinedLanesGiveWhatEachPointGivesAlone) {
  size_t joins = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Decoded program = Program(seed).Run(3);
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
  EXPECT_GT(joins, 20u);
}

TEST(Lanes, JoinedHyperThreadsAndPageTableLinesGiveTheSame) {
  const Decoded program = Program(9).Run(3);
  const auto points = Grid("haswell-ep", {"kernel.flush.ceiling=0..40:3"},
                           {"replay.placement=pack", "replay.warmup=1000"});
  ExpectAsAlone(points, program);
}

}  // namespace
}  // namespace lookaside
