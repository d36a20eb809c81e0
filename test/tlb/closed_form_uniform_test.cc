// SPDX-License-Identifier: Apache-2.0
//
// Uniform random accesses. What an array holds does not depend on the next
// draw, so once it is full each access hits with the same probability,
// independently of the others, whatever the replacement; hit counts are
// binomial, and the tolerance is five of their standard deviations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/test/tlb/demand_tlb.h"
#include "lookaside/test/tlb/tlb_test_config.h"

namespace lookaside {
namespace {

constexpr int kAccesses = 100000;

// The hit ratio on `pages`, drawn uniformly, from when `full` entries are
// held.
double HitRatio(DemandTlb& array, const std::vector<uint64_t>& pages,
                uint32_t full) {
  Rng rng(1);
  while (array.tlb().size() < full)
    array.Access(pages[rng.Below(pages.size())]);
  int hits = 0;
  for (int i = 0; i < kAccesses; ++i) {
    hits += array.Access(pages[rng.Below(pages.size())]);
  }
  return hits / static_cast<double>(kAccesses);
}

std::vector<uint64_t> Pages(uint64_t first, uint64_t count,
                            uint64_t stride = 1) {
  std::vector<uint64_t> pages;
  for (uint64_t i = 0; i < count; ++i) pages.push_back(first + i * stride);
  return pages;
}

struct Policy {
  TlbReplacement replacement;
  uint32_t ways;
};
constexpr Policy kPolicies[] = {
    {TlbReplacement::kLru, 4},       {TlbReplacement::kFifo, 4},
    {TlbReplacement::kRandom, 4},    {TlbReplacement::kTreePlru, 8},
    {TlbReplacement::kMru3Plru2, 6}, {TlbReplacement::kMru3Plru4, 12}};

TEST(UniformRandom, OneSetHitsWithWaysOverPagesUnderEveryPolicy) {
  for (const Policy& policy : kPolicies) {
    const TlbConfig config =
        ArrayOf(16 * policy.ways, policy.ways, policy.replacement);
    for (uint32_t pages : {policy.ways + 1, 3 * policy.ways}) {
      DemandTlb array(config);
      const double want = policy.ways / static_cast<double>(pages);
      EXPECT_NEAR(HitRatio(array, Pages(5, pages, 16), policy.ways), want,
                  FiveSigma(want, kAccesses))
          << pages << " pages, policy " << static_cast<int>(policy.replacement);
    }
  }
}

TEST(UniformRandom, OneSetThatHoldsAllPagesAlwaysHits) {
  for (const Policy& policy : kPolicies) {
    DemandTlb array(ArrayOf(16 * policy.ways, policy.ways, policy.replacement));
    EXPECT_EQ(HitRatio(array, Pages(5, policy.ways, 16), policy.ways), 1.0);
  }
}

TEST(UniformRandom, AnAlignedRangeHitsWithEntriesOverPages) {
  for (const Policy& policy : kPolicies) {
    DemandTlb array(ArrayOf(16 * policy.ways, policy.ways, policy.replacement));
    const uint32_t entries = 16 * policy.ways;
    EXPECT_NEAR(HitRatio(array, Pages(1 << 20, 2 * entries), entries), 0.5,
                FiveSigma(0.5, kAccesses));
  }
}

TEST(UniformRandom, AnXorHashSpreadsAnAlignedBlockEvenly) {
  DemandTlb xor7(ArrayOf(1536, 12, TlbReplacement::kMru3Plru4, TlbHash::kXor7));
  double want = 1536 / 4096.0;
  EXPECT_NEAR(HitRatio(xor7, Pages(1 << 14, 4096), 1536), want,
              FiveSigma(want, kAccesses));
  DemandTlb xor8(ArrayOf(1536, 6, TlbReplacement::kMru3Plru2, TlbHash::kXor8));
  EXPECT_NEAR(HitRatio(xor8, Pages(1 << 16, 4096), 1536), want,
              FiveSigma(want, kAccesses));
}

// sum over sets of min(pages of the set, ways) / pages, which is less than
// entries / pages since some sets have pages to spare and others none.
TEST(UniformRandom, ScatteredPagesHitWithTheSumOverSets) {
  Rng rng(4);
  std::set<uint64_t> scattered;
  while (scattered.size() < 96) scattered.insert(rng.Below(1 << 30));
  std::map<uint64_t, uint32_t> pages_of_set;
  for (uint64_t page : scattered) ++pages_of_set[page % 16];
  uint32_t reach = 0;
  for (const auto& [set, pages] : pages_of_set) reach += std::min(pages, 4u);
  ASSERT_LT(reach, 64u);
  const double want = reach / 96.0;
  DemandTlb array(ArrayOf(64, 4, TlbReplacement::kTreePlru));
  EXPECT_NEAR(HitRatio(array, {scattered.begin(), scattered.end()}, reach),
              want, FiveSigma(want, kAccesses));
}

// Two levels, both fully associative, of C1 and C2 entries, over F pages.
class TwoLevels : public testing::Test {
 protected:
  static constexpr double kFirst = 48, kSecond = 64, kPages = 160;

  void Run(TlbInclusion inclusion) {
    TlbHierarchyConfig config;
    config.inclusion = inclusion;
    config.arrays = {Named("itlb", 1, TlbSide::kInst, {PageSize::k4K},
                           ArrayOf(1, 1, TlbReplacement::kLru)),
                     Named("dtlb", 1, TlbSide::kData, {PageSize::k4K},
                           ArrayOf(48, 48, TlbReplacement::kLru)),
                     Named("stlb", 2, TlbSide::kUnified, {PageSize::k4K},
                           ArrayOf(64, 64, TlbReplacement::kLru))};
    DemandHierarchy core(config);
    Rng rng(2);
    for (int i = 0; i < 10000; ++i) core.Access(rng.Below(160));
    for (int i = 0; i < kAccesses; ++i) ++hits_[core.Access(rng.Below(160))];
  }
  double Ratio(int level) const { return hits_[level] / double{kAccesses}; }
  // Of second-level hits among first-level misses.
  double SecondRatio() const { return Ratio(2) / (1 - Ratio(1)); }
  void ExpectRatio(double got, double want) const {
    EXPECT_NEAR(got, want, FiveSigma(want, kAccesses * (1 - Ratio(1))));
  }

  int hits_[3] = {};
};

TEST_F(TwoLevels, ExclusiveOnesHoldDifferentPages) {
  Run(TlbInclusion::kExclusive);
  ExpectRatio(Ratio(1), kFirst / kPages);
  ExpectRatio(SecondRatio(), kSecond / (kPages - kFirst));
}

// What leaves the second level leaves the first, which is therefore not
// always full; together they hold what the second holds.
TEST_F(TwoLevels, InclusiveOnesHoldWhatTheSecondHolds) {
  Run(TlbInclusion::kInclusive);
  ExpectRatio(1 - Ratio(0), kSecond / kPages);
  EXPECT_LE(Ratio(1), kFirst / kPages + FiveSigma(kFirst / kPages, kAccesses));
}

// The overlap is unknown but lies between the two extremes; the sample is far
// enough from both.
TEST_F(TwoLevels, OthersLieBetweenInclusiveAndExclusive) {
  Run(TlbInclusion::kNone);
  ExpectRatio(Ratio(1), kFirst / kPages);
  const double inclusive = (kSecond - kFirst) / (kPages - kFirst);
  const double exclusive = kSecond / (kPages - kFirst);
  const double slack = FiveSigma(exclusive, kAccesses * (1 - Ratio(1)));
  EXPECT_GT(SecondRatio(), inclusive + slack);
  EXPECT_LT(SecondRatio(), exclusive - slack);
}

}  // namespace
}  // namespace lookaside
