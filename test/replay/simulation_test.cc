// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/config/config_loader.h"

namespace lookaside {
namespace {

// A program of a few hot pages, some cold ones, and code that moves.
std::vector<TraceEvent> Program(uint64_t seed, size_t length) {
  Rng rng(seed);
  std::vector<TraceEvent> events(length);
  uint64_t code = 0x400;
  for (TraceEvent& event : events) {
    if (rng.Below(50) == 0) code = 0x400 + rng.Below(200);
    const bool hot = rng.Below(10) != 0;
    const uint64_t data = 0x10000 + (hot ? rng.Below(6) : rng.Below(5000));
    event.kind = rng.Below(3) == 0 ? static_cast<EventKind>(1 + rng.Below(3))
                                   : EventKind::kFetch;
    const uint64_t page = event.kind == EventKind::kFetch ? code : data;
    event.address = VirtAddr((page << kPageShift) + rng.Below(kPageBytes - 8));
    event.size = static_cast<uint16_t>(1 + rng.Below(16));
  }
  return events;
}

class SimulationTest : public testing::TestWithParam<std::string> {
 protected:
  SimConfig config_ = *LoadPreset(GetParam());
};

TEST_P(SimulationTest, FoldedRunsGiveTheSameResultsAsTheirEvents) {
  for (const ThpPolicy thp : {ThpPolicy::kNever, ThpPolicy::kAlways}) {
    config_.paging.thp = thp;
    const std::vector<TraceEvent> events = Program(3, 100'000);
    auto unfolded = *Simulation::Create(config_, 9);
    ASSERT_TRUE(unfolded->Play(CpuId(0), events).ok());
    auto folded = *Simulation::Create(config_, 9);
    ASSERT_TRUE(folded->machine().folding_is_exact());
    std::vector<PageRun> runs;
    RunFolder folder;
    // In buffers of odd lengths: runs depend on the stream alone.
    for (size_t i = 0; i < events.size(); i += 777) {
      const size_t n = std::min<size_t>(777, events.size() - i);
      EXPECT_EQ(folder.Fold(std::span(events).subspan(i, n), runs), n);
    }
    folder.Finish(runs);
    EXPECT_LT(runs.size(), events.size());
    ASSERT_TRUE(folded->PlayRuns(CpuId(0), runs).ok());
    EXPECT_EQ(folded->Results().totals, unfolded->Results().totals);
    EXPECT_EQ(folded->Digest(), unfolded->Digest());
  }
}

// Ticks fall between runs, and what a fault inserts for one CPU is in a run.
TEST_P(SimulationTest, FoldingIsExactUnderPoliciesThatActBetweenRuns) {
  for (const FlushPolicyKind policy :
       {FlushPolicyKind::kLatr, FlushPolicyKind::kAbis}) {
    config_.kernel.flush_policy = policy;
    config_.kernel.tick_us = 100;
    auto unfolded = *Simulation::Create(config_, 9);
    auto folded = *Simulation::Create(config_, 9);
    const uint32_t cpus = folded->machine().topology().cpus() > 1 ? 2 : 1;
    for (uint32_t round = 0; round < 12; ++round) {
      const CpuId cpu(round % cpus);
      const std::vector<TraceEvent> events = Program(3 + round / 2, 8'000);
      std::vector<PageRun> runs;
      RunFolder folder;
      EXPECT_EQ(folder.Fold(events, runs), events.size());
      folder.Finish(runs);
      ASSERT_TRUE(unfolded->Play(cpu, events).ok());
      ASSERT_TRUE(folded->PlayRuns(cpu, runs).ok());
      const VirtAddr first(events[round].address.value() >> kPageShift
                                                                << kPageShift);
      const Operation give_up{.kind = OperationKind::kMadviseDontNeed,
                              .address = first,
                              .length = 16 * kPageBytes};
      ASSERT_TRUE(unfolded->RunOperation(cpu, give_up).ok());
      ASSERT_TRUE(folded->RunOperation(cpu, give_up).ok());
      ASSERT_EQ(folded->Results().totals, unfolded->Results().totals) << round;
      ASSERT_EQ(folded->Digest(), unfolded->Digest()) << round;
    }
    // A run counts one exposed use of a page, its events each.
    EXPECT_LE(folded->Results().checks.exposed,
              unfolded->Results().checks.exposed);
    EXPECT_EQ(folded->Results().checks.violations(), 0u);
    EXPECT_EQ(unfolded->Results().checks.violations(), 0u);
  }
}

TEST_P(SimulationTest, ACloneDrivenOnGivesWhatItsOriginalGives) {
  const std::vector<TraceEvent> before = Program(4, 20'000);
  const std::vector<TraceEvent> after = Program(5, 20'000);
  auto original = *Simulation::Create(config_, 1);
  ASSERT_TRUE(original->Play(CpuId(0), before).ok());
  auto clone = original->Clone();
  EXPECT_EQ(clone->Digest(), original->Digest());
  ASSERT_TRUE(clone->Play(CpuId(0), after).ok());
  EXPECT_NE(clone->Digest(), original->Digest());
  ASSERT_TRUE(original->Play(CpuId(0), after).ok());
  EXPECT_EQ(clone->Digest(), original->Digest());
  EXPECT_EQ(clone->Results().totals, original->Results().totals);
}

TEST_P(SimulationTest, HowEventsAreCutIntoBuffersDoesNotMatter) {
  const std::vector<TraceEvent> events = Program(6, 30'000);
  auto whole = *Simulation::Create(config_, 2);
  ASSERT_TRUE(whole->Play(CpuId(0), events).ok());
  auto pieces = *Simulation::Create(config_, 2);
  for (const TraceEvent& event : events) {
    ASSERT_TRUE(pieces->Play(CpuId(0), std::span(&event, 1)).ok());
  }
  EXPECT_EQ(pieces->Results().totals, whole->Results().totals);
  EXPECT_EQ(pieces->Digest(), whole->Digest());
}

TEST_P(SimulationTest, LookupsAndCyclesAddUp) {
  auto simulation = *Simulation::Create(config_);
  ASSERT_TRUE(simulation->Play(CpuId(0), Program(8, 50'000)).ok());
  const CpuResult totals = simulation->Results().totals;
  const TranslationCounters& t = totals.counters.translation;
  uint64_t first_level = 0;
  for (size_t i = 0; i < config_.tlb.arrays.size(); ++i) {
    if (config_.tlb.arrays[i].level != 1) continue;
    first_level += totals.counters.tlb[i].lookups();
  }
  EXPECT_EQ(first_level, t.l1_hits + t.stlb_hits + t.walks);
  uint64_t by_level = 0;
  for (uint64_t loads : t.walk_loads_by_level) by_level += loads;
  EXPECT_EQ(by_level, t.walk_loads);
  uint64_t by_place = 0;
  for (uint64_t loads : t.walk_loads_by_place) by_place += loads;
  EXPECT_EQ(by_place, t.walk_loads);
  EXPECT_EQ(totals.cycles.Total(), totals.elapsed);
}

INSTANTIATE_TEST_SUITE_P(Presets, SimulationTest,
                         testing::ValuesIn(PresetNames()),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Simulation, SeedsMatterToRandomReplacementAlone) {
  SimConfig config = *LoadPreset("skylake-sp");
  const std::vector<TraceEvent> events = Program(2, 50'000);
  const auto cycles = [&](uint64_t seed) {
    auto simulation = *Simulation::Create(config, seed);
    EXPECT_TRUE(simulation->Play(CpuId(0), events).ok());
    return simulation->Results().totals.elapsed;
  };
  EXPECT_EQ(cycles(1), cycles(2));
  for (TlbConfig& tlb : config.tlb.arrays) {
    tlb.replacement = TlbReplacement::kRandom;
  }
  EXPECT_NE(cycles(1), cycles(2));
  EXPECT_EQ(cycles(1), cycles(1));
}

TEST(Simulation, AnImpossibleConfigurationIsAnError) {
  SimConfig config = *LoadPreset("textbook");
  config.replay.cpu = 1;
  EXPECT_FALSE(Simulation::Create(config).ok());
  config = *LoadPreset("textbook");
  config.tlb.arrays[0].ways = 5;
  EXPECT_FALSE(Simulation::Create(config).ok());
}

TEST(Simulation, LargePagesAreMappedOnFirstTouchWhereAsked) {
  SimConfig config = *LoadPreset("skylake-sp");
  config.paging.thp = ThpPolicy::kAlways;
  std::vector<TraceEvent> events(1024);
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].kind = EventKind::kLoad;
    events[i].address = VirtAddr((uint64_t{1} << 30) + i * kPageBytes);
    events[i].size = 8;
  }
  auto simulation = *Simulation::Create(config);
  ASSERT_TRUE(simulation->Play(CpuId(0), events).ok());
  const RunResult result = simulation->Results();
  EXPECT_EQ(result.totals.faults.minor, 2u);
  EXPECT_EQ(result.totals.counters.translation.walks, 2u);
}

}  // namespace
}  // namespace lookaside
