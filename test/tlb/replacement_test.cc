// SPDX-License-Identifier: Apache-2.0
//
// The permutation vectors that TLB;DR (USENIX Security 2022) measured on
// Skylake. Position 0 of a set is the entry evicted last; vector i lists the
// old positions in their new order after a hit on position i.
#include "lookaside/tlb/replacement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

using Vector = std::vector<uint32_t>;

// The ways of the only set, last to be evicted first.
Vector EvictionOrder(Replacement policy, uint32_t ways) {
  Vector order(ways);
  for (uint32_t i = 0; i < ways; ++i) {
    const uint32_t way = policy.Victim(0);
    policy.OnFill(0, way);
    order[ways - 1 - i] = way;
  }
  return order;
}

Vector AfterHit(Replacement policy, uint32_t ways, uint32_t position) {
  const Vector before = EvictionOrder(policy, ways);
  Vector position_of(ways);
  for (uint32_t i = 0; i < ways; ++i) position_of[before[i]] = i;
  policy.OnHit(0, before[position]);
  Vector permutation;
  for (uint32_t way : EvictionOrder(policy, ways)) {
    permutation.push_back(position_of[way]);
  }
  return permutation;
}

// From any state that fills and hits lead to.
void ExpectVectors(TlbReplacement policy, const std::vector<Vector>& want) {
  const auto ways = static_cast<uint32_t>(want.size());
  Rng rng(3);
  Replacement state(policy, 1, ways, /*seed=*/1);
  for (uint32_t way = 0; way < ways; ++way) state.OnFill(0, way);
  for (int round = 0; round < 200; ++round) {
    for (uint32_t i = 0; i < ways; ++i) {
      ASSERT_EQ(AfterHit(state, ways, i), want[i]) << "hit on position " << i;
    }
    if (rng.Below(2) == 0) {
      state.OnHit(0, static_cast<uint32_t>(rng.Below(ways)));
    } else {
      state.OnFill(0, state.Victim(0));
    }
  }
}

TEST(Replacement, Mru3Plru4HasThePermutationVectorsOfSkylakesStlb) {
  ExpectVectors(TlbReplacement::kMru3Plru4,
                {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                 {1, 2, 0, 4, 5, 3, 7, 8, 6, 10, 11, 9},
                 {2, 0, 1, 5, 3, 4, 8, 6, 7, 11, 9, 10},
                 {3, 1, 2, 0, 4, 5, 9, 7, 8, 6, 10, 11},
                 {4, 2, 0, 1, 5, 3, 10, 8, 6, 7, 11, 9},
                 {5, 0, 1, 2, 3, 4, 11, 6, 7, 8, 9, 10},
                 {6, 1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11},
                 {7, 2, 0, 4, 5, 3, 1, 8, 6, 10, 11, 9},
                 {8, 0, 1, 5, 3, 4, 2, 6, 7, 11, 9, 10},
                 {9, 1, 2, 0, 4, 5, 3, 7, 8, 6, 10, 11},
                 {10, 2, 0, 1, 5, 3, 4, 8, 6, 7, 11, 9},
                 {11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}});
}

TEST(Replacement, TreePlruOfFourHasThePermutationVectorsOfSkylakesDtlb) {
  ExpectVectors(TlbReplacement::kTreePlru,
                {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 1, 0, 3}, {3, 0, 1, 2}});
}

TEST(Replacement, TreePlruOfEightHasThePermutationVectorsOfSkylakesItlb) {
  ExpectVectors(TlbReplacement::kTreePlru, {{0, 1, 2, 3, 4, 5, 6, 7},
                                            {1, 0, 3, 2, 5, 4, 7, 6},
                                            {2, 1, 0, 3, 6, 5, 4, 7},
                                            {3, 0, 1, 2, 7, 4, 5, 6},
                                            {4, 1, 2, 3, 0, 5, 6, 7},
                                            {5, 0, 3, 2, 1, 4, 7, 6},
                                            {6, 1, 0, 3, 2, 5, 4, 7},
                                            {7, 0, 1, 2, 3, 4, 5, 6}});
}

TEST(Replacement, LruMovesTheWayThatHitToTheFront) {
  ExpectVectors(TlbReplacement::kLru, {{0, 1, 2, 3, 4},
                                       {1, 0, 2, 3, 4},
                                       {2, 0, 1, 3, 4},
                                       {3, 0, 1, 2, 4},
                                       {4, 0, 1, 2, 3}});
}

TEST(Replacement, FifoIgnoresHits) {
  ExpectVectors(TlbReplacement::kFifo, {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}});
}

TEST(Replacement, RandomDrawsOnceForEachVictimAndAtNoOtherTime) {
  Replacement policy(TlbReplacement::kRandom, 4, 6, /*seed=*/9);
  Rng rng(9);
  for (uint32_t i = 0; i < 100; ++i) {
    policy.OnHit(i % 4, i % 6);
    policy.OnFill(i % 4, i % 6);
    EXPECT_EQ(policy.Victim(i % 4), rng.Below(6));
  }
}

TEST(Replacement, SetsDoNotDisturbOneAnother) {
  for (TlbReplacement kind :
       {TlbReplacement::kLru, TlbReplacement::kFifo, TlbReplacement::kTreePlru,
        TlbReplacement::kMru3Plru2, TlbReplacement::kMru3Plru4}) {
    const uint32_t ways = kind == TlbReplacement::kMru3Plru2   ? 6
                          : kind == TlbReplacement::kMru3Plru4 ? 12
                                                               : 8;
    Replacement policy(kind, 2, ways, /*seed=*/1);
    for (uint32_t way = 0; way < ways; ++way) policy.OnFill(0, way);
    const Vector before = EvictionOrder(policy, ways);
    for (uint32_t way = 0; way < ways; ++way) {
      policy.OnFill(1, way);
      policy.OnHit(1, ways - 1 - way);
    }
    EXPECT_EQ(EvictionOrder(policy, ways), before);
  }
}

TEST(Replacement, SuitsOnlyTheWaysThatThePolicyCanOrder) {
  using enum TlbReplacement;
  for (uint32_t ways = 1; ways <= 130; ++ways) {
    const bool power = (ways & (ways - 1)) == 0;
    EXPECT_TRUE(Replacement::SuitsWays(kLru, ways));
    EXPECT_TRUE(Replacement::SuitsWays(kFifo, ways));
    EXPECT_TRUE(Replacement::SuitsWays(kRandom, ways));
    EXPECT_EQ(Replacement::SuitsWays(kTreePlru, ways), power && ways <= 64);
    EXPECT_EQ(Replacement::SuitsWays(kMru3Plru2, ways), ways == 6);
    EXPECT_EQ(Replacement::SuitsWays(kMru3Plru4, ways), ways == 12);
  }
  EXPECT_FALSE(Replacement::SuitsWays(kLru, 0));
}

TEST(ReplacementDeathTest, WaysThatDoNotSuitAreAProgrammersError) {
  EXPECT_DEATH(Replacement(TlbReplacement::kTreePlru, 1, 12, 0), "SuitsWays");
}

}  // namespace
}  // namespace lookaside
