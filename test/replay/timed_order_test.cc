// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/timed_cpus.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/thread_streams.h"
#include "lookaside/trace/trace_reader.h"
#include "lookaside/trace/vector_reader.h"
#include "lookaside/workload/mprotect_generator.h"

namespace lookaside {
namespace {

using testing::HasSubstr;

constexpr uint32_t kThreads = 3;

TraceEvent Load(uint32_t thread, uint64_t page) {
  return {.address = VirtAddr(page << kPageShift),
          .size = 8,
          .kind = EventKind::kLoad,
          .thread = thread};
}

SimConfig Config(const std::string& order) {
  SimConfig config = *LoadPreset("nehalem-ep");
  EXPECT_TRUE(Set(config, "replay.order", order).ok());
  EXPECT_TRUE(Set(config, "replay.slice_us", "1").ok());
  return config;
}

// Threads that read their own pages round and round, a stretch each in turn.
std::vector<TraceEvent> Rounds(uint32_t threads, uint64_t rounds) {
  std::vector<TraceEvent> events;
  for (uint64_t round = 0; round < rounds; ++round) {
    for (uint32_t thread = 0; thread < threads; ++thread) {
      for (uint64_t page = 0; page < 40; ++page) {
        events.push_back(Load(thread, 1000 * (thread + 1) + page));
      }
    }
  }
  return events;
}

absl::StatusOr<RunResult> RunAll(const SimConfig& config,
                                 std::vector<TraceReader*> readers) {
  const std::unique_ptr<Simulation> simulation = *Simulation::Create(config);
  return Replay(*simulation, readers, {});
}

TEST(TimedOrder, ThreadsOfTheirOwnCpusRunSideBySide) {
  VectorReader one("one", Rounds(kThreads, 500));
  VectorReader again("one", Rounds(kThreads, 500));
  const RunResult timed = *RunAll(Config("timed"), {&one});
  const RunResult recorded = *RunAll(Config("recorded"), {&again});
  EXPECT_EQ(timed.totals.counters.loads, recorded.totals.counters.loads);
  EXPECT_LT(timed.totals.elapsed.value() * 2, recorded.totals.elapsed.value());
  ASSERT_EQ(timed.threads.size(), kThreads);
  for (const ThreadResult& thread : timed.threads) {
    EXPECT_EQ(thread.accesses, 500u * 40);
  }
}

TEST(TimedOrder, ThreadsOfOneCpuTakeTurnsByTimeSlices) {
  SimConfig config = Config("timed");
  config.machine.sockets = config.machine.cores_per_socket = 1;
  config.machine.threads_per_core = config.machine.numa = 1;
  for (const char* placement : {"recorded", "pack", "spread", "round_robin"}) {
    ASSERT_TRUE(Set(config, "replay.placement", placement).ok());
    VectorReader reader("one", Rounds(kThreads, 200));
    const RunResult result = *RunAll(config, {&reader});
    EXPECT_EQ(result.totals.counters.loads, 200u * 40 * kThreads);
    ASSERT_EQ(result.cpus.size(), 1u);
    // A slice of 1 us: switches cost about as much as there were slices.
    const uint64_t slice = config.machine.mhz;
    EXPECT_GT(result.totals.cycles[CostKind::kSyscall].value(),
              result.totals.elapsed.value() / slice / 4);
    config.replay.slice_us = 1'000'000;
    VectorReader long_slices("one", Rounds(kThreads, 200));
    const RunResult fewer = *RunAll(config, {&long_slices});
    EXPECT_LT(fewer.totals.cycles[CostKind::kSyscall],
              result.totals.cycles[CostKind::kSyscall]);
    config.replay.slice_us = 1;
  }
}

TEST(TimedOrder, NothingBehindACallIsPlayedBeforeIt) {
  // Thread 1 is far behind: the call waits for it, and thread 0 for the call.
  MemoryCall unmap;
  unmap.kind = CallKind::kMunmap;
  unmap.address = VirtAddr(2000 << kPageShift);
  unmap.length = kPageBytes;
  std::vector<TraceEvent> events;
  for (uint64_t i = 0; i < 5000; ++i) {
    events.push_back(Load(1, 2000 + i % 600));
  }
  events.push_back(
      {.address = VirtAddr(0), .kind = EventKind::kCall, .thread = 0});
  for (int i = 0; i < 10; ++i) events.push_back(Load(0, 2000));
  VectorReader reader("one", events, {unmap});
  const RunResult result = *RunAll(Config("timed"), {&reader});
  // Of the page, once before the call and once after it.
  EXPECT_EQ(result.totals.faults.minor, 601u);
  EXPECT_EQ(result.checks.violations(), 0u);
}

TEST(TimedOrder, WhatIsFedPieceByPieceIsTheSame) {
  SimConfig config = Config("timed");
  config.replay.lookahead = 3000;
  VectorReader reader("one", Rounds(kThreads, 2000));
  const RunResult pulled = *RunAll(config, {&reader});
  const std::unique_ptr<Simulation> simulation = *Simulation::Create(config);
  Replayer replayer(*simulation, {});
  reader.Rewind();
  std::vector<TraceEvent> buffer(kBufferEvents);
  while (const size_t n = reader.Read(buffer)) {
    ASSERT_TRUE(replayer.Play({buffer.data(), n}, reader.calls()).ok());
  }
  const RunResult pushed = *replayer.Finish(reader.info());
  EXPECT_EQ(pushed.totals, pulled.totals);
  EXPECT_EQ(pushed.threads, pulled.threads);
}

TEST(TimedOrder, TheBundledRecordingTripsNoCheckUnderAnyVersion) {
  const EmbeddedFile& demo = DemoRecording().front();
  std::optional<uint64_t> loads;
  for (const char* version : {"linux_3.4", "linux_3.6", "linux_3.17",
                              "linux_4.14", "linux_5.13", "linux_6.15"}) {
    SimConfig config = *LoadPreset("skylake-sp");
    ASSERT_TRUE(Set(config, "replay.order", "timed").ok());
    ASSERT_TRUE(Set(config, "kernel.version", version).ok());
    const auto reader =
        *OpenTraceFromMemory(std::string(demo.name), demo.contents);
    const RunResult result = *RunAll(config, {reader.get()});
    EXPECT_EQ(result.checks.violations(), 0u) << version;
    EXPECT_EQ(result.totals.counters.loads,
              loads.value_or(result.totals.counters.loads));
    loads = result.totals.counters.loads;
  }
}

TEST(TimedOrder, TheWarmupIsLeftOutExactly) {
  SimConfig config = Config("timed");
  VectorReader whole("one", Rounds(kThreads, 50));
  const RunResult all = *RunAll(config, {&whole});
  config.replay.warmup = 1234;
  VectorReader reader("one", Rounds(kThreads, 50));
  const RunResult rest = *RunAll(config, {&reader});
  EXPECT_EQ(rest.totals.counters.loads, 50u * 40 * kThreads - 1234);
  EXPECT_LT(rest.totals.elapsed, all.totals.elapsed);
  uint64_t accesses = 0;
  for (const ThreadResult& thread : rest.threads) accesses += thread.accesses;
  EXPECT_EQ(accesses, rest.totals.counters.loads);
}

class SeveralTracesTest : public testing::TestWithParam<const char*> {};

TEST_P(SeveralTracesTest, ShareTheCpusAndAreToldApart) {
  SimConfig config = Config(GetParam());
  std::vector<RunResult> results;
  for (int i = 0; i < 2; ++i) {
    VectorReader a("a", Rounds(2, 2000));
    VectorReader b("b", Rounds(1, 3000));
    results.push_back(*RunAll(config, {&a, &b}));
  }
  const RunResult& result = results[0];
  EXPECT_EQ(result.totals, results[1].totals);
  ASSERT_EQ(result.traces.size(), 2u);
  EXPECT_EQ(result.traces[0].name, "a");
  EXPECT_EQ(result.traces[1].name, "b");
  EXPECT_EQ(result.totals.counters.loads, 40u * (2 * 2000 + 3000));
  // Both touch the same addresses, in address spaces of their own.
  EXPECT_EQ(result.totals.faults.minor, 40u * 3);
  EXPECT_EQ(result.cpus.size(), 2u);
  EXPECT_EQ(result.checks.violations(), 0u);
  // The first threads of both share a CPU, by context switches.
  EXPECT_GT(result.cpus[0].result.cycles[CostKind::kSyscall],
            Cycles(config.machine.mhz));
  EXPECT_THAT(result.warnings, testing::Contains(HasSubstr("a: the recording "
                                                           "has 2 threads")));
}

TEST_P(SeveralTracesTest, AnErrorSaysWhichTraceItIsOf) {
  VectorReader a("a", Rounds(1, 10));
  VectorReader b("b", {Load(0, uint64_t{1} << 40)});
  const auto result = RunAll(Config(GetParam()), {&a, &b});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(Message(result.status()), testing::StartsWith("b: "));
  EXPECT_THAT(Message(result.status()), HasSubstr("not canonical"));
}

INSTANTIATE_TEST_SUITE_P(Orders, SeveralTracesTest,
                         testing::Values("recorded", "timed"));

// Programs of whose CPUs the first unmaps and the others do nothing.
class OneUnmaps final : public CpuPrograms {
 public:
  explicit OneUnmaps(TimedCpus& cpus) : cpus_(cpus) {}
  std::optional<Cycles> ReadyAt(CpuId cpu) override {
    if (cpu != CpuId(0) || begun_) return std::nullopt;
    return Cycles(0);
  }
  absl::Status GoOn(CpuId cpu, Cycles) override {
    begun_ = true;
    cpus_.Begin(cpu, {.kind = OperationKind::kMunmap,
                      .address = VirtAddr(1000 << kPageShift),
                      .length = kPageBytes});
    return absl::OkStatus();
  }
  absl::Status Returned(CpuId, int64_t result) override {
    result_ = result;
    return absl::OkStatus();
  }
  absl::Status Failed(CpuId, const absl::Status& error) override {
    return error;
  }
  std::optional<int64_t> result_;

 private:
  TimedCpus& cpus_;
  bool begun_ = false;
};

absl::Status Unmap(Simulation& simulation, bool target_is_deaf,
                   std::optional<int64_t>* result) {
  const TraceEvent load = Load(0, 1000);
  for (const uint32_t cpu : {0u, 2u}) {
    EXPECT_TRUE(simulation.Play(CpuId(cpu), {&load, 1}).ok());
  }
  simulation.machine().cpu(CpuId(2)).set_interrupts_off(target_is_deaf);
  TimedCpus cpus(simulation.machine(), simulation.kernel());
  OneUnmaps programs(cpus);
  for (const uint32_t cpu : {0u, 2u}) cpus.Wake(CpuId(cpu));
  for (;;) {
    LOOKASIDE_ASSIGN_OR_RETURN(const bool goes_on, cpus.Step(programs));
    if (!goes_on) break;
  }
  *result = programs.result_;
  return absl::OkStatus();
}

TEST(TimedCpus, TheTargetsHandlerAcknowledges) {
  const auto simulation = *Simulation::Create(Config("timed"));
  std::optional<int64_t> result;
  ASSERT_TRUE(Unmap(*simulation, false, &result).ok());
  EXPECT_EQ(result, 0);
  EXPECT_EQ(simulation->kernel().flushes(CpuId(2)).interrupts, 1u);
  EXPECT_GT(simulation->kernel().flushes(CpuId(0)).wait_cycles, 0u);
}

TEST(TimedCpus, AWaitThatNobodyCanEndIsADeadlock) {
  const auto simulation = *Simulation::Create(Config("timed"));
  std::optional<int64_t> result;
  const absl::Status status = Unmap(*simulation, true, &result);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(Message(status), HasSubstr("deadlock"));
  EXPECT_THAT(Message(status), HasSubstr("CPU 0 waits for acknowledgements"));
  const CheckCounters& checks = simulation->machine().checks();
  EXPECT_EQ(checks.by_check[static_cast<size_t>(Check::kC10)], 1u);
}

// A thread that makes one access, then waits for nobody.
class WaitingReader final : public TraceReader, public ThreadStreams {
 public:
  size_t Read(std::span<TraceEvent>) override { return 0; }
  const absl::Status& status() const override { return status_; }
  TraceInfo info() const override {
    TraceInfo info;
    info.name = "waiting";
    return info;
  }
  ThreadStreams* streams() override { return this; }
  ThreadStep Next(uint32_t) override {
    if (played_) return {.kind = ThreadStep::Kind::kWaits};
    return {.kind = ThreadStep::Kind::kAccesses, .events = {&event_, 1}};
  }
  bool Played(uint32_t, size_t events) override {
    played_ |= events > 0;  // an attempt that faulted played none
    return false;
  }
  void Returned(uint32_t) override {}

 private:
  absl::Status status_;
  TraceEvent event_ = Load(0, 1);
  bool played_ = false;
};

// It was an error without a result.
TEST(TimedReplay, ADeadlockIsAViolationWithTheResultUpToIt) {
  WaitingReader reader;
  const absl::StatusOr<RunResult> result = RunAll(Config("timed"), {&reader});
  ASSERT_TRUE(result.ok()) << Message(result.status());
  EXPECT_EQ(result->totals.counters.loads, 1u);
  EXPECT_EQ(result->checks.by_check[static_cast<size_t>(Check::kC10)], 1u);
  EXPECT_EQ(result->checks.violations(), 1u);
  ASSERT_FALSE(result->warnings.empty());
  EXPECT_THAT(result->warnings[0], HasSubstr("incomplete"));
}

RunResult Mprotect(const MprotectConfig& generator, const SimConfig& config) {
  MprotectGenerator reader("gen:mprotect", generator, 7);
  return *RunAll(config, {&reader});
}

TEST(MprotectGenerator, InTimedOrderReadersSpinUntilTheLastCall) {
  const MprotectConfig generator{
      .readers = 2, .reads = 64, .calls = 50, .region = uint64_t{1} << 20};
  SimConfig config = Config("auto");
  const RunResult result = Mprotect(generator, config);
  EXPECT_EQ(result.totals.counters.stores, 0u);  // all of them set-up
  ASSERT_EQ(result.threads.size(), 3u);
  EXPECT_EQ(result.threads[0].accesses, 0u);
  EXPECT_GT(result.threads[1].accesses, 64u);
  EXPECT_EQ(result.threads[1].accesses + result.threads[2].accesses,
            result.totals.counters.loads);
  EXPECT_EQ(result.checks.violations(), 0u);
  // As one thread writes and all read what it lets them, no fault is left.
  EXPECT_EQ(result.totals.faults.minor, 0u);
  config.replay.order = ReplayOrder::kRecorded;
  // One round of every reader between two calls.
  EXPECT_EQ(Mprotect(generator, config).totals.counters.loads, 49u * 2 * 64);
}

TEST(MprotectGenerator, ASparseSetUpChangesNothingThatIsMeasured) {
  MprotectConfig generator{
      .readers = 2, .reads = 64, .calls = 50, .region = uint64_t{64} << 20};
  const RunResult all = Mprotect(generator, Config("auto"));
  generator.sparse = true;
  const RunResult sparse = Mprotect(generator, Config("auto"));
  EXPECT_EQ(all.totals.counters.translation.walks > 0, true);
  EXPECT_EQ(sparse.totals.faults, all.totals.faults);
  EXPECT_EQ(sparse.totals.flushes.requests, all.totals.flushes.requests);
  EXPECT_NEAR(static_cast<double>(sparse.totals.counters.loads),
              static_cast<double>(all.totals.counters.loads),
              static_cast<double>(all.totals.counters.loads) * 0.02);
}

TEST(MprotectGenerator, WithoutReadersItReadsAfterEachCall) {
  const RunResult result = Mprotect(
      {.reads = 100, .pages = 4, .calls = 30, .region = uint64_t{1} << 20},
      Config("auto"));
  EXPECT_EQ(result.totals.counters.loads, 30u * 100);
}

TEST(MprotectGenerator, FlushingByPageSparesWhatReadersHave) {
  const MprotectConfig generator{
      .readers = 2, .reads = 256, .calls = 400, .region = uint64_t{64} << 20};
  for (const bool redraw : {false, true}) {
    MprotectConfig arm = generator;
    arm.redraw = redraw;
    SimConfig config = Config("auto");
    std::vector<double> misses;
    for (const char* version : {"linux_3.4", "linux_3.6"}) {
      EXPECT_TRUE(Set(config, "kernel.version", version).ok());
      const CpuCounters& counters = Mprotect(arm, config).totals.counters;
      misses.push_back(static_cast<double>(counters.translation.walks) /
                       static_cast<double>(counters.loads));
    }
    if (redraw) {
      EXPECT_NEAR(misses[0], misses[1], 0.05);
    } else {
      EXPECT_GT(misses[0], 1.5 * misses[1]);
    }
  }
}

}  // namespace
}  // namespace lookaside
