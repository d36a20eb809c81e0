// SPDX-License-Identifier: Apache-2.0
//
// How translations move between the levels. Without inclusion these are the
// findings 1 to 9 of TLB;DR (USENIX Security 2022).
#include "lookaside/tlb/tlb_hierarchy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "lookaside/test/tlb/demand_tlb.h"
#include "lookaside/test/tlb/tlb_test_config.h"

namespace lookaside {
namespace {

constexpr size_t kItlb = 0, kDtlb = 1, kStlb = 2;
constexpr PageSizeSet k4KOnly{PageSize::k4K};

// Fully associative LRU: a data side of two entries over a second level of
// four.
TlbHierarchyConfig TwoOverFour(TlbInclusion inclusion = TlbInclusion::kNone) {
  TlbHierarchyConfig config;
  config.inclusion = inclusion;
  config.arrays = {Named("itlb_4k", 1, TlbSide::kInst, k4KOnly,
                         ArrayOf(2, 2, TlbReplacement::kLru)),
                   Named("dtlb_4k", 1, TlbSide::kData, k4KOnly,
                         ArrayOf(2, 2, TlbReplacement::kLru)),
                   Named("stlb", 2, TlbSide::kUnified, k4KOnly,
                         ArrayOf(4, 4, TlbReplacement::kLru))};
  return config;
}

bool Holds(const TlbHierarchy& tlbs, size_t array, uint64_t page,
           const TlbContext& context = kContext0) {
  return tlbs.arrays()[array].Find(context, VirtPage(page), PageSize::k4K) !=
         Tlb::kMiss;
}

TlbEntry Of2M(uint64_t page) {
  TlbEntry entry = EntryFor(kContext0, page);
  entry.size = entry.origin = PageSize::k2M;
  return entry;
}

TEST(TlbHierarchy, AWalkFillsBothLevels) {
  DemandHierarchy core(TwoOverFour());
  EXPECT_EQ(core.Access(1), 0);
  EXPECT_TRUE(Holds(core.tlbs(), kDtlb, 1));
  EXPECT_TRUE(Holds(core.tlbs(), kStlb, 1));
  EXPECT_FALSE(Holds(core.tlbs(), kItlb, 1));
}

TEST(TlbHierarchy, ASecondLevelHitFillsTheFirstAndKeepsTheSecond) {
  DemandHierarchy core(TwoOverFour());
  for (uint64_t page : {1u, 2u, 3u}) core.Access(page);
  ASSERT_FALSE(Holds(core.tlbs(), kDtlb, 1));
  EXPECT_EQ(core.Access(1), 2);
  EXPECT_TRUE(Holds(core.tlbs(), kStlb, 1));
  EXPECT_EQ(core.Access(1), 1);
}

TEST(TlbHierarchy, AFirstLevelHitDoesNotRefreshTheSecondLevel) {
  DemandHierarchy core(TwoOverFour());
  core.Access(1);
  for (uint64_t page : {2u, 3u, 4u, 5u}) {
    core.Access(page);
    core.Access(1);
  }
  EXPECT_TRUE(Holds(core.tlbs(), kDtlb, 1));
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 1)) << "the oldest of the STLB";
}

TEST(TlbHierarchy, ASecondLevelHitRefreshesTheSecondLevel) {
  DemandHierarchy core(TwoOverFour());
  for (uint64_t page : {1u, 2u, 3u, 4u}) core.Access(page);
  EXPECT_EQ(core.Access(1), 2);
  core.Access(5);
  EXPECT_TRUE(Holds(core.tlbs(), kStlb, 1));
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 2));
}

TEST(TlbHierarchy, WhatTheFirstLevelEvictsIsNotPutIntoTheSecond) {
  DemandHierarchy core(TwoOverFour());
  core.Access(1);
  for (uint64_t page : {2u, 3u, 4u, 5u}) {
    core.Access(page);
    core.Access(1);
  }
  core.Access(6);
  core.Access(7);  // 1 leaves the DTLB
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 1));
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 1));
  EXPECT_EQ(core.Access(1), 0);
}

TEST(TlbHierarchy, InclusiveFirstLevelLosesWhatTheSecondEvicts) {
  DemandHierarchy core(TwoOverFour(TlbInclusion::kInclusive));
  core.Access(1);
  for (uint64_t page : {2u, 3u, 4u}) {
    core.Access(page);
    core.Access(1);
  }
  ASSERT_TRUE(Holds(core.tlbs(), kDtlb, 1));
  const uint64_t evictions = core.counters()[kDtlb].evictions;
  core.Access(5);
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 1));
  EXPECT_EQ(core.counters()[kDtlb].evictions, evictions + 1);
  EXPECT_EQ(core.Access(1), 0);
}

TEST(TlbHierarchy, ExclusiveLevelsPassAnEntryUpAndDown) {
  DemandHierarchy core(TwoOverFour(TlbInclusion::kExclusive));
  core.Access(1);
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 1)) << "a walk fills the first level";
  core.Access(2);
  core.Access(3);
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 1));
  EXPECT_TRUE(Holds(core.tlbs(), kStlb, 1)) << "evicted downwards";
  EXPECT_EQ(core.Access(1), 2);
  EXPECT_TRUE(Holds(core.tlbs(), kDtlb, 1));
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 1)) << "moved up";
}

// A hit on a global entry that the sibling filled used to fill the sibling's
// share, twice if it was there already.
TEST(TlbHierarchy, AHitOnASiblingsGlobalEntryFillsOnesOwnShare) {
  for (TlbSmt smt : {TlbSmt::kPartitioned, TlbSmt::kReplicated}) {
    TlbHierarchyConfig config = TwoOverFour();
    config.arrays[kDtlb].smt = smt;
    DemandHierarchy core(config, /*threads=*/2);
    core.tlbs().SetActiveThreads(0b11, core.counters());
    TlbEntry global = EntryFor(kContext0, 1);
    global.context = kContext0.global;
    global.flags = kTlbGlobal;
    core.tlbs().Fill(AccessSide::kData, VirtPage(1), global, core.counters());
    EXPECT_EQ(core.Access(1, kContext1), 2);
    EXPECT_EQ(core.Access(1, kContext1), 1);
    core.tlbs().CheckInvariants();
  }
}

TEST(TlbHierarchy, InclusionDropsAGlobalEntryFromEveryShare) {
  TlbHierarchyConfig config = TwoOverFour(TlbInclusion::kInclusive);
  config.arrays[kDtlb].smt = TlbSmt::kReplicated;
  DemandHierarchy core(config, /*threads=*/2);
  TlbEntry global = EntryFor(kContext0, 1);
  global.context = kContext0.global;
  global.flags = kTlbGlobal;
  core.tlbs().Fill(AccessSide::kData, VirtPage(1), global, core.counters());
  core.Access(1, kContext1);
  ASSERT_TRUE(Holds(core.tlbs(), kDtlb, 1, kContext0));
  ASSERT_TRUE(Holds(core.tlbs(), kDtlb, 1, kContext1));
  std::vector<TlbCounters>& counters = core.counters();
  for (uint64_t page :
       {2u, 3u, 4u, 5u}) {  // by fetches, which leave the DTLB be
    core.tlbs().Fill(AccessSide::kInst, VirtPage(page),
                     EntryFor(kContext0, page), counters);
  }
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 1, kContext0));
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 1, kContext1));
}

// Those three kept the first level's entries.
TEST(TlbHierarchy, InclusionFollowsARecycledPcidSlotOfTheSecondLevel) {
  TlbHierarchyConfig config = TwoOverFour(TlbInclusion::kInclusive);
  config.arrays[kStlb].pcid_slots = 2;
  DemandHierarchy core(config);
  const auto process = [](uint16_t tag) {
    return TlbContext{ContextTag(tag), ContextTag(100), ThreadSlot(0)};
  };
  core.Access(1, process(1));
  core.tlbs().OnLoadContext(process(2), core.counters());
  ASSERT_TRUE(Holds(core.tlbs(), kDtlb, 1, process(1)));
  core.tlbs().OnLoadContext(process(3), core.counters());
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 1, process(1)));
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 1, process(1)));
  EXPECT_EQ(core.counters()[kDtlb].invalidated, 1u);
}

TEST(TlbHierarchy, InclusionFollowsASecondLevelThatIsDividedAnew) {
  TlbHierarchyConfig config = TwoOverFour(TlbInclusion::kInclusive);
  config.arrays[kStlb].smt = TlbSmt::kPartitioned;
  DemandHierarchy core(config, /*threads=*/2);
  core.Access(1);
  core.tlbs().SetActiveThreads(0b11, core.counters());
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 1));
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 1));
}

TEST(TlbHierarchy, InclusionFollowsASiblingsFlushOfAGlobalPage) {
  TlbHierarchyConfig config = TwoOverFour(TlbInclusion::kInclusive);
  config.arrays[kDtlb].smt = TlbSmt::kReplicated;
  DemandHierarchy core(config, /*threads=*/2);
  TlbEntry global = EntryFor(kContext0, 1);
  global.context = kContext0.global;
  global.flags = kTlbGlobal;
  core.tlbs().Fill(AccessSide::kData, VirtPage(1), global, core.counters());
  core.tlbs().DropPage(kContext1, VirtPage(1), /*globals=*/true,
                       core.counters());
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 1));
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 1));
}

// It overwrote the copy, and the next store paid a dirty assist again.
TEST(TlbHierarchy, ACleanCopyThatTheItlbEvictsLeavesADirtyOneOfTheStlbBe) {
  DemandHierarchy core(TwoOverFour(TlbInclusion::kExclusive));
  const auto fetch = [&](uint64_t page) {
    core.tlbs().Fill(AccessSide::kInst, VirtPage(page),
                     EntryFor(kContext0, page), core.counters());
  };
  fetch(1);
  core.Access(1);
  core.tlbs().SetDirty(kContext0, VirtPage(1));
  core.Access(2);
  core.Access(3);  // 1 goes down, dirty
  fetch(4);
  fetch(5);  // 1 goes down, clean
  const auto found = core.tlbs().Lookup(AccessSide::kData, kContext0,
                                        VirtPage(1), core.counters());
  EXPECT_EQ(found.level, 2);
  EXPECT_NE(found.flags & kTlbDirty, 0);
}

// It took the only slot, and the entries of the process that runs were gone.
TEST(TlbHierarchy, AVictimOfAnotherPcidDoesNotTakeTheRunningOnesSlot) {
  TlbHierarchyConfig config = TwoOverFour(TlbInclusion::kExclusive);
  config.arrays[kStlb].pcid_slots = 1;
  DemandHierarchy core(config);
  const TlbContext before{ContextTag(3), ContextTag(100), ThreadSlot(0)};
  core.Access(1, before);
  core.tlbs().OnLoadContext(kContext0, core.counters());
  core.Access(2);
  core.Access(3);
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 1, before));
  core.Access(4);
  EXPECT_TRUE(Holds(core.tlbs(), kStlb, 2));
}

TEST(TlbHierarchy, AVictimOfAHaltedThreadTakesNoPlaceInADividedSecondLevel) {
  TlbHierarchyConfig config = TwoOverFour(TlbInclusion::kExclusive);
  config.arrays[kStlb].smt = TlbSmt::kPartitioned;
  DemandHierarchy core(config, /*threads=*/2);
  core.tlbs().SetActiveThreads(0b11, core.counters());
  core.Access(1, kContext1);
  core.tlbs().SetActiveThreads(0b01, core.counters());
  core.Access(2);
  core.Access(3);  // 1 of the halted thread leaves the DTLB
  EXPECT_EQ(core.tlbs().arrays()[kStlb].size(), 0u);
}

// A fetch took a 4K piece to the ITLB, and the 2M entry was gone.
TEST(TlbHierarchy, ALargePageOfWhichAPieceMovesUpStaysOnTheSecondLevel) {
  TlbHierarchyConfig config = TwoOverFour(TlbInclusion::kExclusive);
  config.arrays[kDtlb].pages =
      config.arrays[kStlb].pages = {PageSize::k4K, PageSize::k2M};
  DemandHierarchy core(config);
  core.tlbs().Fill(AccessSide::kData, VirtPage(512), Of2M(512),
                   core.counters());
  core.Access(1);
  core.Access(2);  // the 2M page goes down
  const auto fetched = core.tlbs().Lookup(AccessSide::kInst, kContext0,
                                          VirtPage(513), core.counters());
  EXPECT_EQ(fetched.level, 2);
  EXPECT_EQ(core.Access(700), 2) << "another 4K of the same page";
}

TEST(TlbHierarchy, SidesShareTheSecondLevelAlone) {
  DemandHierarchy core(TwoOverFour());
  core.Access(1);
  const auto fetch = core.tlbs().Lookup(AccessSide::kInst, kContext0,
                                        VirtPage(1), core.counters());
  EXPECT_EQ(fetch.level, 2);
  EXPECT_EQ(fetch.array, kItlb);
  EXPECT_EQ(fetch.second_array, kStlb);
}

// A 2M page in arrays of 4K entries.
TEST(TlbHierarchy, TheFirstLevelHoldsALargePageInPiecesTheSecondNotAtAll) {
  DemandHierarchy core(TwoOverFour());
  const auto found = core.tlbs().Fill(AccessSide::kData, VirtPage(515),
                                      Of2M(512), core.counters());
  EXPECT_EQ(found.size, PageSize::k2M);
  EXPECT_TRUE(Holds(core.tlbs(), kDtlb, 515));
  EXPECT_FALSE(Holds(core.tlbs(), kDtlb, 512));
  EXPECT_EQ(core.tlbs().arrays()[kStlb].size(), 0u);
  core.tlbs().CountMiss(AccessSide::kData, VirtPage(515), PageSize::k2M,
                        core.counters());
  EXPECT_EQ(core.counters()[kDtlb].misses, 1u);
  EXPECT_EQ(core.counters()[kStlb].misses, 0u) << "it cannot hold the page";
}

TEST(TlbHierarchy, AFracturingSecondLevelHoldsPieces) {
  TlbHierarchyConfig config = TwoOverFour();
  config.arrays[kStlb].fracture = true;
  DemandHierarchy core(config);
  core.tlbs().Fill(AccessSide::kData, VirtPage(515), Of2M(512),
                   core.counters());
  EXPECT_TRUE(Holds(core.tlbs(), kStlb, 515));
  core.tlbs().DropPage(kContext0, VirtPage(600), true, core.counters());
  EXPECT_FALSE(Holds(core.tlbs(), kStlb, 515));
  EXPECT_EQ(core.counters()[kDtlb].invalidated, 1u);
  EXPECT_EQ(core.counters()[kStlb].invalidated, 1u);
}

TEST(TlbHierarchy, SplitFirstLevelsAreOneLookupCountedWhereItEnds) {
  TlbHierarchyConfig config = TwoOverFour();
  config.arrays.push_back(Named("dtlb_2m", 1, TlbSide::kData, {PageSize::k2M},
                                ArrayOf(2, 2, TlbReplacement::kLru)));
  DemandHierarchy core(config);
  std::vector<TlbCounters>& counters = core.counters();
  const auto count = [&](uint64_t page) {
    const auto found = core.tlbs().Lookup(AccessSide::kData, kContext0,
                                          VirtPage(page), counters);
    ASSERT_NE(found.level, 0);
    core.tlbs().CountHit(AccessSide::kData, VirtPage(page), found, counters);
  };
  core.Access(1);
  core.tlbs().Fill(AccessSide::kData, VirtPage(513), Of2M(512), counters);
  core.tlbs().CountMiss(AccessSide::kData, VirtPage(513), PageSize::k2M,
                        counters);
  count(514);
  count(1);
  EXPECT_EQ(counters[3].misses, 1u);
  EXPECT_EQ(counters[3].hits, 1u);
  EXPECT_EQ(counters[kDtlb].lookups(), 1u);
  EXPECT_EQ(counters[kDtlb].hits, 1u);
  EXPECT_EQ(counters[kStlb].lookups(), 0u) << "it lists no 2M pages";
}

TEST(TlbHierarchy, ASecondLevelHitCountsAMissAboveIt) {
  DemandHierarchy core(TwoOverFour());
  for (uint64_t page : {1u, 2u, 3u}) core.Access(page);
  std::vector<TlbCounters>& counters = core.counters();
  const auto found =
      core.tlbs().Lookup(AccessSide::kData, kContext0, VirtPage(1), counters);
  EXPECT_EQ(counters[kDtlb].lookups() + counters[kStlb].lookups(), 0u);
  core.tlbs().CountHit(AccessSide::kData, VirtPage(1), found, counters);
  EXPECT_EQ(counters[kDtlb].misses, 1u);
  EXPECT_EQ(counters[kStlb].hits, 1u);
  EXPECT_EQ(counters[kDtlb].hits + counters[kStlb].misses, 0u);
}

TEST(TlbHierarchy, BanksAreChosenByTheBitAboveTheSetIndex) {
  TlbHierarchyConfig config = TwoOverFour();
  config.arrays[kStlb] = Named("stlb_0", 2, TlbSide::kUnified, k4KOnly,
                               ArrayOf(16, 2, TlbReplacement::kLru));
  config.arrays.push_back(Named("stlb_1", 2, TlbSide::kUnified, k4KOnly,
                                ArrayOf(32, 4, TlbReplacement::kLru)));
  DemandHierarchy core(config);
  for (uint64_t page = 0; page < 24; ++page) {
    core.Access(page);
    const bool second = page >= 8 && page < 16;
    EXPECT_EQ(Holds(core.tlbs(), kStlb, page), !second) << page;
    EXPECT_EQ(Holds(core.tlbs(), 3, page), second) << page;
  }
}

TEST(TlbHierarchy, AStoreMarksEveryDataSideCopyDirty) {
  DemandHierarchy core(TwoOverFour());
  core.Access(1);
  core.tlbs().Lookup(AccessSide::kInst, kContext0, VirtPage(1),
                     core.counters());
  core.tlbs().SetDirty(kContext0, VirtPage(1));
  for (size_t array : {kItlb, kDtlb, kStlb}) {
    const Tlb& tlb = core.tlbs().arrays()[array];
    const uint32_t slot = tlb.Find(kContext0, VirtPage(1), PageSize::k4K);
    ASSERT_NE(slot, Tlb::kMiss);
    EXPECT_EQ(tlb.flags(slot), array == kItlb ? 0 : kTlbDirty);
  }
}

TEST(TlbHierarchy, AUnifiedFirstLevelIsSaidToBe) {
  TlbHierarchyConfig config = TwoOverFour();
  EXPECT_FALSE(TlbHierarchy(config, 1, 1).has_unified_first_level());
  config.arrays[kDtlb].side = TlbSide::kUnified;
  EXPECT_TRUE(TlbHierarchy(config, 1, 1).has_unified_first_level());
}

TEST(TlbCounters, AddAndSubtractFieldByField) {
  TlbCounters a{1, 20, 300, 4000, 50000};
  const TlbCounters b{5, 60, 700, 8000, 90000};
  a += b;
  EXPECT_EQ(a, (TlbCounters{6, 80, 1000, 12000, 140000}));
  EXPECT_EQ(a.lookups(), 86u);
  a -= b;
  EXPECT_EQ(a, (TlbCounters{1, 20, 300, 4000, 50000}));
}

}  // namespace
}  // namespace lookaside
