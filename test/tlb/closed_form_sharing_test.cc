// SPDX-License-Identifier: Apache-2.0
//
// What hardware threads and address spaces take from one another: hit ratios
// of two threads of unequal footprint, and arrays that keep few PCIDs
// (TLB;DR, USENIX Security 2022, findings 16 to 19).
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/test/tlb/demand_tlb.h"
#include "lookaside/test/tlb/tlb_test_config.h"
#include "lookaside/tlb/pcid_slots.h"

namespace lookaside {
namespace {

// Thread 0 draws from 32 pages and thread 1 from 224 others, each page of the
// 256 equally often; 16 sets of 4 ways.
class TwoThreads : public testing::Test {
 protected:
  static constexpr int kAccesses = 100000;

  void Run(TlbSmt smt, uint32_t active) {
    TlbConfig config = ArrayOf(64, 4, TlbReplacement::kTreePlru);
    config.smt = smt;
    DemandTlb array(config, /*threads=*/2);
    array.tlb().SetActiveThreads(active);
    Rng rng(3);
    for (int i = -5000; i < kAccesses; ++i) {
      const uint64_t page = rng.Below(256);
      const bool first = page < 32;
      const bool hit = array.Access(page, first ? kContext0 : kContext1);
      if (i < 0) continue;
      ++accesses_[first ? 0 : 1];
      hits_[first ? 0 : 1] += hit;
    }
  }

  void ExpectRatio(int thread, double want) const {
    EXPECT_NEAR(hits_[thread] / accesses_[thread], want,
                FiveSigma(want, accesses_[thread]))
        << "thread " << thread;
  }

  double hits_[2] = {};
  double accesses_[2] = {};
};

TEST_F(TwoThreads, CompetingOnesBehaveAsOneStreamOverBothFootprints) {
  Run(TlbSmt::kCompetitive, 0b11);
  ExpectRatio(0, 64.0 / 256);
  ExpectRatio(1, 64.0 / 256);
}

TEST_F(TwoThreads, PartitionedOnesSeeHalfTheArrayWhateverTheOtherDoes) {
  Run(TlbSmt::kPartitioned, 0b11);
  ExpectRatio(0, 1.0);
  ExpectRatio(1, 32.0 / 224);
}

TEST_F(TwoThreads, ReplicatedOnesSeeAWholeArrayEach) {
  Run(TlbSmt::kReplicated, 0b11);
  ExpectRatio(0, 1.0);
  ExpectRatio(1, 64.0 / 224);
}

TEST(Partition, AThreadAloneHasTheWholeArrayAndLosesItWhenASiblingWakes) {
  TlbConfig config = ArrayOf(64, 4, TlbReplacement::kLru);
  config.smt = TlbSmt::kPartitioned;
  DemandTlb array(config, /*threads=*/2);
  for (uint64_t page = 0; page < 64; ++page) array.Access(page);
  EXPECT_EQ(array.tlb().size(), 64u);
  EXPECT_EQ(array.tlb().SetActiveThreads(0b11), 64u);
  EXPECT_EQ(array.tlb().size(), 0u);
  for (uint64_t page = 0; page < 64; ++page) array.Access(page);
  EXPECT_EQ(array.tlb().size(), 32u);
  EXPECT_EQ(array.tlb().SetActiveThreads(0b11), 0u);
  EXPECT_EQ(array.tlb().size(), 32u);
}

// Hits in the rounds after the first, when each round gives every one of
// `pcids` address spaces a turn of 8 pages.
uint64_t HitsOfTurns(uint32_t slots, uint16_t pcids, int rounds) {
  TlbConfig config = ArrayOf(1536, 12, TlbReplacement::kMru3Plru4);
  config.pcid_slots = slots;
  DemandTlb array(config);
  uint64_t hits = 0;
  for (int round = 0; round <= rounds; ++round) {
    for (uint16_t pcid = 1; pcid <= pcids; ++pcid) {
      TlbContext context = kContext0;
      context.tag = ContextTag(pcid);
      array.tlb().OnLoadContext(context.tag, context.thread);
      for (uint64_t page = 0; page < 8; ++page) {
        const bool hit = array.Access(page * 16 + pcid * 1000u, context);
        if (round > 0) hits += hit;
      }
    }
  }
  return hits;
}

TEST(PcidSlots, AsManyPcidsInTurnAsSlotsKeepAllTheirEntries) {
  EXPECT_EQ(HitsOfTurns(4, 4, 10), 4u * 8 * 10);
  EXPECT_EQ(HitsOfTurns(TlbConfig::kNoPcidLimit, 20, 10), 20u * 8 * 10);
}

TEST(PcidSlots, OnePcidMoreInTurnThanSlotsKeepsNothing) {
  EXPECT_EQ(HitsOfTurns(4, 5, 10), 0u);
  EXPECT_EQ(HitsOfTurns(0, 2, 10), 0u);
  EXPECT_EQ(HitsOfTurns(1, 2, 10), 0u);
}

TEST(PcidSlots, TheRunningAddressSpaceAlwaysKeepsItsOwn) {
  EXPECT_EQ(HitsOfTurns(0, 1, 10), 80u);
}

// Which of the slots are lost in turn to address spaces that are new, after
// slot `used` was used: the measured vectors, last to be lost first.
TEST(PcidSlots, AreRecycledInTrueLruOrder) {
  const std::vector<std::vector<uint16_t>> want = {
      {0, 1, 2, 3}, {1, 0, 2, 3}, {2, 0, 1, 3}, {3, 0, 1, 2}};
  for (uint16_t used = 0; used < 4; ++used) {
    PcidSlots slots(4, 1, false);
    for (const uint16_t i : std::vector<uint16_t>{3, 2, 1, 0}) {
      EXPECT_EQ(slots.Use(ContextTag(i), ThreadSlot(0)), std::nullopt);
    }
    EXPECT_EQ(slots.Use(ContextTag(used), ThreadSlot(0)), std::nullopt);
    for (size_t i = 4; i-- > 0;) {
      const auto fresh = static_cast<uint16_t>(10 + i);
      EXPECT_EQ(slots.Use(ContextTag(fresh), ThreadSlot(0)),
                ContextTag(want[used][i]));
    }
  }
}

TEST(PcidSlots, SiblingsShareThemExceptWhereEachHasOnlyOne) {
  PcidSlots shared(2, 2, false);
  shared.Use(ContextTag(1), ThreadSlot(0));
  shared.Use(ContextTag(2), ThreadSlot(1));
  EXPECT_EQ(shared.Use(ContextTag(3), ThreadSlot(1)), ContextTag(1));
  for (uint32_t limit : {0u, 1u}) {
    PcidSlots own(limit, 2, false);
    own.Use(ContextTag(1), ThreadSlot(0));
    EXPECT_EQ(own.Use(ContextTag(2), ThreadSlot(1)), std::nullopt);
    EXPECT_EQ(own.Use(ContextTag(3), ThreadSlot(1)), ContextTag(2));
  }
}

}  // namespace
}  // namespace lookaside
