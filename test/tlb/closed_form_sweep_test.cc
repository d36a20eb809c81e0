// SPDX-License-Identifier: Apache-2.0
//
// Cyclic sweeps over n pages of one set, and sets of pages that a hash sends
// to one set (TLB;DR, USENIX Security 2022; strides of tlbkit).
//
// A set that is full evicts the last W pages that missed in their order, so a
// sweep of more than W pages never hits. Ways that are free are not filled in
// that order, and a sweep that begins in an empty set may hit for a while, or
// for ever; these begin with sets full of other pages, as on a machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "lookaside/test/tlb/demand_tlb.h"
#include "lookaside/test/tlb/tlb_test_config.h"

namespace lookaside {
namespace {

// Hits in each of `rounds` sweeps after the first `warm_up` ones.
uint64_t SweepHits(DemandTlb& array, const std::vector<uint64_t>& pages,
                   int warm_up, int rounds) {
  uint64_t hits = 0;
  for (int round = 0; round < warm_up + rounds; ++round) {
    for (uint64_t page : pages) {
      const bool hit = array.Access(page);
      if (round >= warm_up) hits += hit;
    }
  }
  return hits;
}

// Sets full of pages that no test touches.
DemandTlb Full(const TlbConfig& config) {
  DemandTlb array(config);
  for (uint64_t i = 0; i < config.entries; ++i) {
    array.Access((uint64_t{1} << 40) + i);
  }
  EXPECT_EQ(array.tlb().size(), config.entries);
  return array;
}

std::vector<uint64_t> Stride(uint64_t count, uint64_t stride) {
  std::vector<uint64_t> pages;
  for (uint64_t i = 0; i < count; ++i) pages.push_back(1 + i * stride);
  return pages;
}

struct Policy {
  TlbReplacement replacement;
  uint32_t ways;
};
constexpr Policy kDeterministic[] = {
    {TlbReplacement::kLru, 4},       {TlbReplacement::kFifo, 4},
    {TlbReplacement::kTreePlru, 4},  {TlbReplacement::kTreePlru, 8},
    {TlbReplacement::kMru3Plru2, 6}, {TlbReplacement::kMru3Plru4, 12}};

TEST(CyclicSweep, OfNoMorePagesThanWaysAlwaysHits) {
  for (const Policy& policy : kDeterministic) {
    for (uint64_t pages = 1; pages <= policy.ways; ++pages) {
      DemandTlb array =
          Full(ArrayOf(16 * policy.ways, policy.ways, policy.replacement));
      EXPECT_EQ(SweepHits(array, Stride(pages, 16), 1, 10), 10 * pages);
    }
  }
}

TEST(CyclicSweep, OfMorePagesThanWaysNeverHitsFromEmptySetsEither) {
  for (const Policy& policy : kDeterministic) {
    for (uint64_t pages = policy.ways + 1; pages <= 3 * policy.ways; ++pages) {
      DemandTlb array(
          ArrayOf(16 * policy.ways, policy.ways, policy.replacement));
      EXPECT_EQ(SweepHits(array, Stride(pages, 16), 0, 30), 0u)
          << pages << " pages, policy " << static_cast<int>(policy.replacement);
    }
  }
}

TEST(CyclicSweep, OfMorePagesThanWaysNeverHits) {
  for (const Policy& policy : kDeterministic) {
    for (uint64_t pages = policy.ways + 1; pages <= 3 * policy.ways; ++pages) {
      DemandTlb array =
          Full(ArrayOf(16 * policy.ways, policy.ways, policy.replacement));
      EXPECT_EQ(SweepHits(array, Stride(pages, 16), 0, 30), 0u)
          << pages << " pages, policy " << static_cast<int>(policy.replacement);
    }
  }
}

// A page survives m replacements with probability a^m, a = 1 - 1/W, and
// (n - 1)(1 - h) of them fall between its uses, so h = a^((n-1)(1-h)); the
// smallest root, since h = 1 is always one.
double RandomSweepRatio(double ways, double pages) {
  double h = 0;
  for (int i = 0; i < 10000; ++i) {
    h = std::pow(1 - 1 / ways, (pages - 1) * (1 - h));
  }
  return h;
}

// The formula puts the mean number of replacements for its distribution. To
// second order that lowers the right side by h (ln a)^2 Var / 2, where Var is
// at most (n-1) h (1-h) as misses repel one another; the fixed point moves by
// that over 1 - d, d the slope of the right side.
double RandomSweepError(double ways, double pages, double h) {
  const double log_a = std::log(1 - 1 / ways);
  const double slope = -log_a * (pages - 1) * h;
  const double jensen = h * log_a * log_a * (pages - 1) * h * (1 - h) / 2;
  return jensen / (1 - slope);
}

TEST(CyclicSweep, UnderRandomReplacementHitsWithTheRootOfTheFixedPoint) {
  struct Shape {
    uint32_t ways;
    uint64_t pages;
  };
  for (const Shape& shape : {Shape{64, 96}, Shape{64, 128}, Shape{64, 256},
                             Shape{12, 24}, Shape{8, 16}}) {
    DemandTlb array =
        Full(ArrayOf(4 * shape.ways, shape.ways, TlbReplacement::kRandom));
    const int rounds = static_cast<int>(200000 / shape.pages);
    const double n = static_cast<double>(shape.pages) * rounds;
    const double got = static_cast<double>(SweepHits(
                           array, Stride(shape.pages, 4), 50, rounds)) /
                       n;
    const double w = shape.ways;
    const double pages = static_cast<double>(shape.pages);
    const double want = RandomSweepRatio(w, pages);
    EXPECT_NEAR(got, want,
                RandomSweepError(w, pages, want) + FiveSigma(want, n))
        << shape.ways << " ways, " << shape.pages << " pages";
  }
}

TlbConfig SkylakeStlb() {
  return ArrayOf(1536, 12, TlbReplacement::kMru3Plru4, TlbHash::kXor7);
}

TEST(HashConflict, ThirteenPages2To14ApartMissAlwaysInAnXor7Stlb) {
  for (uint64_t stride : {uint64_t{1} << 14, uint64_t{1} << 16}) {
    DemandTlb thirteen = Full(SkylakeStlb());
    EXPECT_EQ(SweepHits(thirteen, Stride(13, stride), 0, 50), 0u);
    DemandTlb twelve = Full(SkylakeStlb());
    EXPECT_EQ(SweepHits(twelve, Stride(12, stride), 1, 50), 600u);
  }
}

TEST(HashConflict, ThirteenPagesOfEqualFoldedIndexMissAlways) {
  std::vector<uint64_t> pages;
  for (uint64_t x = 0; x < 13; ++x) pages.push_back(x << 7 | (x ^ 0x55));
  DemandTlb array = Full(SkylakeStlb());
  EXPECT_EQ(SweepHits(array, pages, 0, 50), 0u);
}

TEST(HashConflict, AStrideOf128PagesDoesNotConflictUnderXor7) {
  DemandTlb hashed = Full(SkylakeStlb());
  EXPECT_EQ(SweepHits(hashed, Stride(13, 128), 1, 50), 13u * 50);
  TlbConfig linear = SkylakeStlb();
  linear.hash = TlbHash::kLinear;
  DemandTlb unhashed = Full(linear);
  EXPECT_EQ(SweepHits(unhashed, Stride(13, 128), 0, 50), 0u);
}

TEST(HashConflict, SevenPages2To16ApartMissAlwaysInAnXor8Stlb) {
  const TlbConfig broadwell =
      ArrayOf(1536, 6, TlbReplacement::kMru3Plru2, TlbHash::kXor8);
  DemandTlb array = Full(broadwell);
  EXPECT_EQ(SweepHits(array, Stride(7, 1 << 16), 0, 50), 0u);
  // Bits 14 and 15 are folded here, where XOR-7 ignores them.
  DemandTlb nearer = Full(broadwell);
  EXPECT_EQ(SweepHits(nearer,
                      {0, 1 << 14, 2 << 14, 3 << 14, 4 << 14, 5 << 14, 6 << 14},
                      1, 50),
            350u);
}

TEST(HashConflict, Pages16ApartMeetInOneSetOfTheFirstLevel) {
  DemandTlb five = Full(ArrayOf(64, 4, TlbReplacement::kTreePlru));
  EXPECT_EQ(SweepHits(five, {1, 17, 33, 49, 65}, 0, 50), 0u);
  DemandTlb four = Full(ArrayOf(64, 4, TlbReplacement::kTreePlru));
  EXPECT_EQ(SweepHits(four, {1, 17, 33, 49}, 1, 50), 200u);
}

}  // namespace
}  // namespace lookaside
