// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_table_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

PhysAddr Line(uint64_t number) { return PhysAddr(number << kLineShift); }

Fingerprint FingerprintOf(const PageTableLineCache& cache) {
  Digest digest;
  cache.AddTo(digest);
  return digest.Finish();
}

TEST(PageTableLineCache, AddressesOfALineHitTogether) {
  PageTableLineCache cache({.lines = 8, .ways = 2}, Permille(0));
  EXPECT_FALSE(cache.Load(PhysAddr(0x1000)));
  EXPECT_TRUE(cache.Load(PhysAddr(0x1038)));
  EXPECT_FALSE(cache.Load(PhysAddr(0x1040)));
}

TEST(PageTableLineCache, DataPressureLeavesTheRestOfTheWaysRoundedUp) {
  const struct {
    uint32_t ways;
    uint32_t pressure;
    uint32_t want;
  } cases[] = {{8, 0, 8},   {8, 500, 4},  {8, 1, 8},   {8, 126, 7},
               {8, 999, 1}, {8, 1000, 0}, {1, 500, 1}, {11, 250, 9}};
  for (const auto& [ways, pressure, want] : cases) {
    const PageTableLineCache cache({.lines = 4 * ways, .ways = ways},
                                   Permille(pressure));
    EXPECT_EQ(cache.ways(), want) << ways << " ways, " << pressure;
    EXPECT_EQ(cache.sets(), 4u);
  }
}

TEST(PageTableLineCache, WithoutWaysItHoldsNothing) {
  PageTableLineCache none({}, Permille(0));
  PageTableLineCache crowded({.lines = 8, .ways = 2}, Permille(1000));
  for (PageTableLineCache* cache : {&none, &crowded}) {
    EXPECT_FALSE(cache->Load(Line(1)));
    EXPECT_FALSE(cache->Load(Line(1)));
    EXPECT_FALSE(cache->Contains(Line(1)));
  }
}

// Cyclic sweep under LRU: all hits if the set holds them, none if not.
TEST(PageTableLineCache, CyclicSweepHitsAllOrNothing) {
  for (const uint64_t lines : {16u, 17u}) {
    PageTableLineCache cache({.lines = 16, .ways = 16}, Permille(0));
    int hits = 0;
    for (uint64_t i = 0; i < 10 * lines; ++i)
      hits += cache.Load(Line(i % lines));
    EXPECT_EQ(hits, lines == 16 ? 9 * 16 : 0);
  }
}

// The naive twin: a list of lines per set, most recent first.
class ListCache {
 public:
  ListCache(uint32_t sets, uint32_t ways) : sets_(sets), ways_(ways) {}

  bool Load(uint64_t line) {
    std::list<uint64_t>& set = sets_[line % sets_.size()];
    const bool hit = set.remove(line) != 0;
    set.push_front(line);
    if (set.size() > ways_) set.pop_back();
    return hit;
  }
  bool Contains(uint64_t line) const {
    const std::list<uint64_t>& set = sets_[line % sets_.size()];
    return std::find(set.begin(), set.end(), line) != set.end();
  }

 private:
  std::vector<std::list<uint64_t>> sets_;
  size_t ways_;
};

TEST(PageTableLineCache, AgreesWithTheNaiveTwin) {
  for (const uint32_t ways : {1u, 2u, 3u, 8u, 11u, 16u}) {
    PageTableLineCache cache({.lines = 4 * ways, .ways = ways}, Permille(0));
    ListCache twin(4, ways);
    Rng rng(ways);
    for (int i = 0; i < 20000; ++i) {
      const uint64_t line = rng.Below(6 * ways);
      ASSERT_EQ(cache.Load(Line(line)), twin.Load(line)) << ways << " ways";
      const uint64_t other = rng.Below(6 * ways);
      ASSERT_EQ(cache.Contains(Line(other)), twin.Contains(other));
    }
  }
}

TEST(PageTableLineCache, DigestIsOfContentsAndOrderOfUse) {
  const LineCacheConfig config{.lines = 8, .ways = 4};
  PageTableLineCache base(config, Permille(0));
  EXPECT_EQ(FingerprintOf(base),
            FingerprintOf(PageTableLineCache(config, Permille(0))));
  base.Load(Line(0));
  base.Load(Line(2));
  base.Load(Line(4));

  PageTableLineCache same(config, Permille(0));
  for (const uint64_t line : {2u, 6u, 8u, 10u, 12u, 0u}) same.Load(Line(line));
  same.Clear();
  EXPECT_TRUE(same == PageTableLineCache(config, Permille(0)));
  for (const uint64_t line : {2u, 0u, 2u, 4u}) same.Load(Line(line));
  EXPECT_TRUE(same == base);
  EXPECT_EQ(FingerprintOf(same), FingerprintOf(base));

  for (const uint64_t line : {0u, 2u, 6u, 1u}) {
    PageTableLineCache changed = base;
    changed.Load(Line(line));
    EXPECT_FALSE(changed == base);
    EXPECT_NE(FingerprintOf(changed), FingerprintOf(base));
  }
}

}  // namespace
}  // namespace lookaside
