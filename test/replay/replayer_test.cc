// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/replayer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/cost/cost_model.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/vector_reader.h"

namespace lookaside {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TraceEvent Event(EventKind kind, uint64_t address, uint16_t size = 4) {
  TraceEvent event;
  event.kind = kind;
  event.address = VirtAddr(address);
  event.size = size;
  return event;
}

absl::StatusOr<RunResult> RunAll(const SimConfig& config,
                                 std::vector<TraceEvent> events) {
  VectorReader reader("events", std::move(events));
  const std::unique_ptr<Simulation> simulation = *Simulation::Create(config);
  return Replay(*simulation, reader, {});
}

SimConfig Textbook() { return *LoadPreset("textbook"); }

TEST(Replayer, InstructionsAdvanceTheClockWhereThereAreFetches) {
  SimConfig config = Textbook();
  ASSERT_TRUE(Set(config, "cost.instruction_cycles", "3").ok());
  const RunResult result = *RunAll(config, {Event(EventKind::kFetch, 0x1000),
                                            Event(EventKind::kLoad, 0x2000),
                                            Event(EventKind::kModify, 0x2000)});
  EXPECT_EQ(result.totals.counters.instructions, 1u);
  EXPECT_EQ(result.totals.counters.loads, 2u);
  EXPECT_EQ(result.totals.counters.stores, 1u);
  EXPECT_EQ(result.totals.cycles[CostKind::kBase], Cycles(3));
}

TEST(Replayer, AccessesAdvanceTheClockWhereThereAreNoFetches) {
  SimConfig config = Textbook();
  ASSERT_TRUE(Set(config, "cost.instruction_cycles", "3").ok());
  const RunResult result = *RunAll(config, {Event(EventKind::kLoad, 0x2000),
                                            Event(EventKind::kModify, 0x2000)});
  EXPECT_EQ(result.totals.counters.instructions, 0u);
  EXPECT_EQ(result.totals.cycles[CostKind::kBase], Cycles(9));
}

TEST(Replayer, FetchesThatBeginLateCountAsIfTheyHadBeenKnownOf) {
  SimConfig config = Textbook();
  for (const size_t before : {kBufferEvents - 1, kBufferEvents,
                              kBufferEvents + 1, 3 * kBufferEvents}) {
    SCOPED_TRACE(before);
    std::vector<TraceEvent> events(before, Event(EventKind::kLoad, 0x2000));
    events.push_back(Event(EventKind::kFetch, 0x1000));
    events.push_back(Event(EventKind::kLoad, 0x2000));
    for (const uint64_t warmup : {0u, 100u}) {
      config.replay.warmup = warmup;
      const RunResult result = *RunAll(config, events);
      EXPECT_EQ(result.totals.cycles[CostKind::kBase], Cycles(1));
      EXPECT_EQ(result.totals.cycles.Total(), result.totals.elapsed);
      EXPECT_EQ(result.cpus[0].result, result.totals);
    }
  }
}

TEST(Replayer, AClockThatWouldOverflowIsAnError) {
  SimConfig config = Textbook();
  config.cost.instruction = CostAmount{uint64_t{1} << 46, CostUnit::kCycles};
  const std::vector<TraceEvent> events(3 * kBufferEvents,
                                       Event(EventKind::kLoad, 0x2000));
  const auto result = RunAll(config, events);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(Message(result.status()), HasSubstr("passed 2^62 cycles"));
}

TEST(Replayer, AnAccessThatSpansPagesIsOneAccessAndATranslationPerPage) {
  const RunResult result =
      *RunAll(Textbook(), {Event(EventKind::kLoad, 0x1ffc, 8),
                           Event(EventKind::kModify, 0x1ffc, 8)});
  EXPECT_EQ(result.totals.counters.loads, 2u);
  EXPECT_EQ(result.totals.counters.stores, 1u);
  EXPECT_EQ(result.totals.counters.translation.walks, 2u);
  EXPECT_EQ(result.totals.counters.translation.l1_hits, 4u);
  EXPECT_EQ(result.totals.counters.translation.dirty_assists, 2u);
}

TEST(Replayer, TheRetryAfterAFaultIsNotCountedAgain) {
  const RunResult result =
      *RunAll(Textbook(), {Event(EventKind::kStore, 0x5000)});
  const CpuCounters& counters = result.totals.counters;
  EXPECT_EQ(result.totals.faults.minor, 1u);
  EXPECT_EQ(counters.stores, 1u);
  EXPECT_EQ(counters.translation.walks, 1u);
  EXPECT_EQ(counters.translation.walk_loads, 4u);
  EXPECT_EQ(counters.translation.dirty_assists, 0u);
  uint64_t lookups = 0;
  for (const TlbCounters& tlb : counters.tlb) lookups += tlb.lookups();
  EXPECT_EQ(lookups, 2u);  // one in each level
}

TEST(Replayer, WarmupIsLeftOutExactly) {
  std::vector<TraceEvent> events;
  for (uint64_t i = 0; i < 100; ++i) {
    events.push_back(Event(EventKind::kLoad, i << kPageShift));
  }
  SimConfig config = Textbook();
  const RunResult whole = *RunAll(config, events);
  EXPECT_EQ(whole.totals.counters.loads, 100u);
  for (const uint64_t warmup : {1u, 37u, 99u}) {
    config.replay.warmup = warmup;
    const RunResult rest = *RunAll(config, events);
    EXPECT_EQ(rest.totals.counters.loads, 100 - warmup);
    EXPECT_EQ(rest.totals.counters.translation.walks, 100 - warmup);
    EXPECT_EQ(rest.totals.faults.minor, 100 - warmup);
    EXPECT_EQ(rest.totals.cycles[CostKind::kBase], Cycles(100 - warmup));
    EXPECT_LT(rest.totals.elapsed, whole.totals.elapsed);
    ASSERT_EQ(rest.cpus.size(), 1u);
    EXPECT_EQ(rest.cpus[0].result, rest.totals);
  }
}

TEST(Replayer, AWarmupOfTheWholeTraceIsToldAbout) {
  SimConfig config = Textbook();
  config.replay.warmup = 5;
  const RunResult result = *RunAll(config, {Event(EventKind::kLoad, 0x1000)});
  EXPECT_EQ(result.totals.counters.loads, 0u);
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr("replay.warmup = 5 covers the whole trace")));
}

TEST(Replayer, FirstTouchesOutsideKnownMappingsAreCountedAndNamedOnce) {
  const RunResult result = *RunAll(
      Textbook(),
      {Event(EventKind::kLoad, 0x3010), Event(EventKind::kLoad, 0x9000)});
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr("2 pages outside every mapping")));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("the first at 0x3000: ")));
  EXPECT_THAT(RunAll(Textbook(), {Event(EventKind::kLoad, 0x3010)})->warnings,
              Contains(HasSubstr("1 page outside every mapping that the trace "
                                 "tells of was mapped")));
}

TEST(Replayer, StrictMakesThemAnError) {
  SimConfig config = Textbook();
  config.replay.strict = true;
  const auto result = RunAll(config, {Event(EventKind::kLoad, 0x3010)});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(Message(result.status()),
              HasSubstr("event 1 (a load of 4 bytes at 0x3010): page 0x3000 is "
                        "outside every mapping"));
}

TEST(Replayer, AnAddressBeyondThePagingLevelsIsAnErrorThatNamesItsEvent) {
  const uint64_t beyond = uint64_t{1} << 50;
  const std::vector<TraceEvent> events = {Event(EventKind::kLoad, 0x1000),
                                          Event(EventKind::kLoad, beyond)};
  SimConfig config = Textbook();
  const auto result = RunAll(config, events);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(
      Message(result.status()),
      HasSubstr("event 2 (a load of 4 bytes at 0x4000000000000): address"));
  EXPECT_THAT(Message(result.status()), HasSubstr("paging.levels = 5"));
  config.paging.levels = 5;
  EXPECT_TRUE(RunAll(config, events).ok());
}

TEST(Replayer, CallsThatAreIgnoredChangeNothingAndAreToldAbout) {
  SimConfig config = Textbook();
  ASSERT_TRUE(Set(config, "replay.operations", "ignore").ok());
  const TraceEvent call = Event(EventKind::kCall, 0, 0);
  const std::vector<TraceEvent> accesses = {Event(EventKind::kLoad, 0x1000),
                                            Event(EventKind::kFetch, 0x2000),
                                            Event(EventKind::kStore, 0x1000)};
  std::vector<TraceEvent> events = accesses;
  for (const std::ptrdiff_t at : {3, 1, 1, 0}) {
    events.insert(events.begin() + at, call);
  }
  VectorReader reader("events", events, std::vector<MemoryCall>(4));
  const RunResult without = *RunAll(config, accesses);
  const RunResult with = *Replay(**Simulation::Create(config), reader, {});
  EXPECT_EQ(with.totals, without.totals);
  EXPECT_EQ(with.cpus, without.cpus);
  EXPECT_THAT(
      with.warnings,
      Contains(HasSubstr("4 memory-management calls were not applied")));
  EXPECT_THAT(without.warnings, Not(Contains(HasSubstr("not applied"))));
}

MemoryCall Mapping(CallKind kind, uint64_t address, uint64_t length) {
  MemoryCall call;
  call.kind = kind;
  call.address = VirtAddr(address);
  call.length = length;
  call.result = VirtAddr(kind == CallKind::kMmap ? address : 0);
  call.prot = kProtRead | kProtWrite;
  call.flags = kMapPrivate | kMapAnonymous;
  return call;
}

TraceEvent Call(uint64_t number) { return Event(EventKind::kCall, number, 0); }

TEST(Replayer, WhatIsUnmappedFaultsAnew) {
  VectorReader reader("events",
                      {Call(0), Event(EventKind::kStore, 0x10000),
                       Event(EventKind::kStore, 0x10000), Call(1), Call(2),
                       Event(EventKind::kStore, 0x10000)},
                      {Mapping(CallKind::kMmap, 0x10000, 0x2000),
                       Mapping(CallKind::kMunmap, 0x10000, 0x2000),
                       Mapping(CallKind::kMmap, 0x10000, 0x2000)});
  const RunResult result =
      *Replay(**Simulation::Create(Textbook()), reader, {});
  EXPECT_EQ(result.totals.faults.minor, 2u);
  EXPECT_EQ(result.totals.flushes.requests, 1u);
  EXPECT_EQ(result.checks.violations(), 0u);
  EXPECT_THAT(result.warnings, Not(Contains(HasSubstr("first touch"))));
}

TEST(Replayer, AThreadThatGoesOnAfterItsExitIsToldAbout) {
  MemoryCall exit;
  exit.kind = CallKind::kExitGroup;
  VectorReader reader("events",
                      {Event(EventKind::kStore, 0x10000), Call(0),
                       Event(EventKind::kStore, 0x10000)},
                      {exit});
  const RunResult result =
      *Replay(**Simulation::Create(Textbook()), reader, {});
  EXPECT_EQ(result.totals.faults.minor, 2u) << "in a new address space";
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr("1 thread of the recording went on")));
}

// The kernel does away with an address space whose last thread has exited; a
// thread that was never heard of before must not be put into it.
TEST(Replayer, AThreadThatAppearsAfterTheEndOfItsProcessGetsANewOne) {
  MemoryCall exit;
  exit.kind = CallKind::kExitGroup;
  TraceEvent late = Event(EventKind::kStore, 0x10000);
  late.thread = 1;
  for (const char* order : {"recorded", "timed"}) {
    for (const char* version : {"linux_3.17", "linux_4.14", "linux_6.15"}) {
      SimConfig config = *LoadPreset("skylake-sp");
      ASSERT_TRUE(Set(config, "replay.order", order).ok());
      ASSERT_TRUE(Set(config, "kernel.version", version).ok());
      VectorReader reader(
          "events", {Event(EventKind::kStore, 0x10000), Call(0), late}, {exit});
      const RunResult result =
          *Replay(**Simulation::Create(config), reader, {});
      EXPECT_EQ(result.totals.faults.minor, 2u) << order << ", " << version;
      EXPECT_THAT(result.warnings,
                  Contains(HasSubstr("1 thread of the recording went on")));
    }
  }
}

TEST(Replayer, AThreadThatAppearsAfterAnExecIsOfTheNewProgram) {
  MemoryCall exec;
  exec.kind = CallKind::kExecve;
  TraceEvent late = Event(EventKind::kStore, 0x10000);
  late.thread = 1;
  for (const char* order : {"recorded", "timed"}) {
    SimConfig config = *LoadPreset("skylake-sp");
    ASSERT_TRUE(Set(config, "replay.order", order).ok());
    VectorReader reader("events",
                        {Event(EventKind::kStore, 0x10000), Call(0), late,
                         Event(EventKind::kLoad, 0x10000)},
                        {exec});
    const RunResult result = *Replay(**Simulation::Create(config), reader, {});
    EXPECT_EQ(result.totals.faults.minor, 2u) << order;
  }
}

TEST(Replayer, AFlushReachesTheThreadThatUsesTheMapping) {
  SimConfig config = *LoadPreset("skylake-sp");
  TraceEvent other = Event(EventKind::kStore, 0x10000);
  other.thread = 1;
  MemoryCall clone;
  clone.kind = CallKind::kClone;
  clone.child = 1;
  VectorReader reader("events",
                      {Call(0), Call(1), other,
                       Event(EventKind::kStore, 0x11000), Call(2), other},
                      {Mapping(CallKind::kMmap, 0x10000, 0x2000), clone,
                       Mapping(CallKind::kMunmap, 0x10000, 0x2000)});
  const RunResult result = *Replay(**Simulation::Create(config), reader, {});
  EXPECT_EQ(result.totals.flushes.ipis, 1u);
  ASSERT_EQ(result.cpus.size(), 2u);
  EXPECT_EQ(result.cpus[1].cpu, CpuId(2)) << "the next core";
  EXPECT_EQ(result.cpus[1].result.flushes.interrupts, 1u);
  EXPECT_GT(result.cpus[0].result.cycles[CostKind::kFlushWait], Cycles());
  EXPECT_EQ(result.checks.violations(), 0u);
}

TEST(Replayer, AnErrorCountsAccessesAndNoCalls) {
  VectorReader reader(
      "events",
      {Event(EventKind::kLoad, 0x1000), Event(EventKind::kCall, 0, 0),
       Event(EventKind::kLoad, uint64_t{1} << 50)},
      {Mapping(CallKind::kMmap, 0x10000, 0x1000)});
  const auto result = Replay(**Simulation::Create(Textbook()), reader, {});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(Message(result.status()), HasSubstr("event 2 (a load of 4"));
}

TEST(Replayer, SeveralThreadsOnOneCpuAreToldAbout) {
  std::vector<TraceEvent> events = {Event(EventKind::kFetch, 0x1000),
                                    Event(EventKind::kFetch, 0x1000)};
  EXPECT_THAT(RunAll(Textbook(), events)->warnings,
              Not(Contains(HasSubstr("threads"))));
  events[1].thread = 1;
  EXPECT_THAT(RunAll(Textbook(), events)->warnings,
              Contains(HasSubstr("the recording has 2 threads")));
}

TEST(Replayer, NothingUnusualIsNotWarnedAbout) {
  const RunResult result =
      *RunAll(Textbook(), {Event(EventKind::kFetch, 0x1000)});
  EXPECT_THAT(result.warnings, Not(Contains(HasSubstr("warmup"))));
  EXPECT_EQ(result.warnings.size(), 1u);  // the first touch
}

}  // namespace
}  // namespace lookaside
