// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_walker.h"

#include <gtest/gtest.h>

#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/test/pagetable/walk_fixture.h"

namespace lookaside {
namespace {

constexpr VirtPage kPage(uint64_t{1} << 27 | 1 << 18 | 1 << 9 | 1);

PscConfig AllCaches() {
  return {.pml5e = 2, .pml4e = 4, .pdpte = 4, .pde = 32, .pde_ways = 4};
}

// Latencies whose sums name their terms.
WalkConfig Decimal() {
  WalkConfig walk;
  walk.base_cycles = 7;
  walk.l1 = {.lines = 64, .ways = 4, .cycles = 10};
  walk.l2 = {.lines = 256, .ways = 4, .cycles = 100};
  walk.l3 = {.lines = 1024, .ways = 4, .cycles = 1'000};
  walk.local_memory_ns = 10'000;
  walk.remote_memory_ns = 100'000;
  return walk;
}

TEST(PageWalker, ReferencesPerWalkWithoutCachesAreTheLevels) {
  const struct {
    int levels;
    PageSize size;
    int want;
  } cases[] = {{4, PageSize::k4K, 4}, {5, PageSize::k4K, 5},
               {4, PageSize::k2M, 3}, {5, PageSize::k2M, 4},
               {4, PageSize::k1G, 2}, {5, PageSize::k1G, 3}};
  for (const auto& [levels, size, want] : cases) {
    WalkFixture f({.levels = levels, .walk = {}, .psc = {}});
    const VirtPage page = AlignDown(kPage, size);
    f.Map(page, size);
    for (int i = 0; i < 2; ++i) {
      const WalkResult result = f.Walk(page);
      EXPECT_EQ(result.fault, WalkFault::kNone);
      EXPECT_EQ(result.loads, want);
      EXPECT_EQ(result.psc_hit, PagingLevel::kPte);
      EXPECT_EQ(result.size, size);
      EXPECT_EQ(result.frame, FrameNumber(page.value()));
    }
  }
}

TEST(PageWalker, EachPagingStructureCacheSkipsTheLevelsAboveIt) {
  const struct {
    PscConfig psc;
    PagingLevel hit;
    int loads_4k;
    int loads_2m;
  } cases[] = {{{.pde = 1}, PagingLevel::kPde, 1, 0},
               {{.pdpte = 1}, PagingLevel::kPdpte, 2, 1},
               {{.pml4e = 1}, PagingLevel::kPml4e, 3, 2},
               {{.pml5e = 1}, PagingLevel::kPml5e, 4, 3},
               {AllCaches(), PagingLevel::kPde, 1, 0}};
  for (const auto& [psc, hit, loads_4k, loads_2m] : cases) {
    WalkFixture f({.levels = 5, .walk = {}, .psc = psc});
    f.Map(kPage, PageSize::k4K);
    EXPECT_EQ(f.Walk(kPage).loads, 5);
    const WalkResult again = f.Walk(kPage);
    EXPECT_EQ(again.loads, loads_4k);
    EXPECT_EQ(again.psc_hit, hit);
    EXPECT_EQ(again.frame, FrameNumber(kPage.value()));

    if (loads_2m == 0) continue;  // a 2M page has no PDE that is a table
    WalkFixture large({.levels = 5, .walk = {}, .psc = psc});
    const VirtPage page = AlignDown(kPage, PageSize::k2M);
    large.Map(page, PageSize::k2M);
    EXPECT_EQ(large.Walk(page).loads, 4);
    EXPECT_EQ(large.Walk(page).loads, loads_2m);
  }
}

TEST(PageWalker, ALoadCostsExactlyWhatThePlaceOfItsLineSays) {
  WalkFixture f({.walk = Decimal(), .psc = {}});
  f.Map(kPage, PageSize::k4K);
  EXPECT_EQ(f.Walk(kPage).cycles, Cycles(7 + 4 * 10'000));
  WalkResult warm = f.Walk(kPage);
  EXPECT_EQ(warm.cycles, Cycles(7 + 4 * 10));
  EXPECT_EQ(warm.LoadsFrom(LinePlace::kL1), 4);
  f.lines.l1.Clear();
  EXPECT_EQ(f.Walk(kPage).cycles, Cycles(7 + 4 * 100));
  f.lines.l1.Clear();
  f.lines.l2.Clear();
  EXPECT_EQ(f.Walk(kPage).cycles, Cycles(7 + 4 * 1'000));
  EXPECT_EQ(f.Walk(kPage).cycles, Cycles(7 + 4 * 10));
}

TEST(PageWalker, EntriesOfOneLineAreLoadedFromL1AfterTheFirst) {
  WalkFixture f({.walk = Decimal(), .psc = AllCaches()});
  for (uint64_t i = 0; i < 9; ++i) f.Map(VirtPage(i), PageSize::k4K);
  f.Walk(VirtPage(0));
  for (uint64_t i = 1; i < 8; ++i) {
    EXPECT_EQ(f.Walk(VirtPage(i)).cycles, Cycles(7 + 10));
  }
  EXPECT_EQ(f.Walk(VirtPage(8)).cycles, Cycles(7 + 10'000));
}

TEST(PageWalker, MemoryOfAnotherSocketIsRemote) {
  WalkFixture f({.nodes = 2, .walk = Decimal(), .psc = {}});
  f.Map(kPage, PageSize::k4K, NodeId(1));  // all but the root
  const WalkResult result = f.Walk(kPage);
  EXPECT_EQ(result.cycles, Cycles(7 + 10'000 + 3 * 100'000));
  EXPECT_EQ(result.LoadsFrom(LinePlace::kLocalMemory), 1);
  EXPECT_EQ(result.LoadsFrom(LinePlace::kRemoteMemory), 3);
}

TEST(PageWalker, NanosecondsBecomeCyclesOfTheClock) {
  WalkConfig walk;
  walk.local_memory_ns = 90;
  WalkFixture f({.mhz = 2095, .walk = walk, .psc = {}});
  f.Map(kPage, PageSize::k4K);
  EXPECT_EQ(f.Walk(kPage).cycles, Cycles(4 * 189));  // 188.55 rounded
}

TEST(PageWalker, OverlapHidesItsPartOfTheWholeWalk) {
  WalkConfig walk = Decimal();
  walk.overlap = Permille(250);
  WalkFixture f({.walk = walk, .psc = {}});
  f.Map(kPage, PageSize::k4K);
  f.Walk(kPage);
  EXPECT_EQ(f.Walk(kPage).cycles, Cycles(47 - 11));  // a quarter is 11.75
}

TEST(PageWalker, UnderFullDataPressureEveryLoadGoesToMemory) {
  WalkConfig walk = Decimal();
  walk.data_pressure = Permille(1000);
  WalkFixture f({.walk = walk, .psc = {}});
  f.Map(kPage, PageSize::k4K);
  f.Walk(kPage);
  EXPECT_EQ(f.Walk(kPage).cycles, Cycles(7 + 4 * 10'000));
}

TEST(PageWalker, SetsAccessedOnTheWayAndDirtyForAStore) {
  WalkFixture f({.walk = {}, .psc = {}});
  f.Map(kPage, PageSize::k4K);
  WalkResult result = f.Walk(kPage);
  EXPECT_EQ(result.set_accessed, 4);
  EXPECT_FALSE(result.set_dirty);
  EXPECT_FALSE(result.dirty);
  result = f.Walk(kPage, {.write = true, .user = true});
  EXPECT_EQ(result.set_accessed, 0);
  EXPECT_TRUE(result.set_dirty);
  EXPECT_TRUE(result.dirty);
  EXPECT_TRUE(f.table.Lookup(f.memory.tables, kPage)->leaf.pte.dirty());
  result = f.Walk(kPage);
  EXPECT_FALSE(result.set_dirty);
  EXPECT_TRUE(result.dirty);
  for (int level = 1; level < 4; ++level) {
    // Tables have no dirty bit.
    FrameNumber table = f.table.root();
    for (int l = 3; l > level; --l) {
      const unsigned index = EntryIndex(kPage, static_cast<PagingLevel>(l));
      table = f.memory.tables.Read(EntryAddress(table, index)).frame();
    }
    const unsigned index = EntryIndex(kPage, static_cast<PagingLevel>(level));
    const Pte pte = f.memory.tables.Read(EntryAddress(table, index));
    EXPECT_TRUE(pte.accessed());
    EXPECT_FALSE(pte.dirty());
  }
}

TEST(PageWalker, RightsAreThoseOfAllLevels) {
  const struct {
    PagePermissions page;
    WalkAccess access;
    WalkFault want;
  } cases[] = {{{.writable = true, .user = true},
                {.write = true, .user = true},
                WalkFault::kNone},
               {{.writable = false, .user = true},
                {.write = true, .user = true},
                WalkFault::kProtection},
               {{.writable = false, .user = true},
                {.write = true, .user = false},
                WalkFault::kProtection},  // CR0.WP
               {{.writable = true, .user = false},
                {.write = false, .user = true},
                WalkFault::kProtection},
               {{.writable = true, .user = false},
                {.write = true, .user = false},
                WalkFault::kNone},
               {{.writable = true, .user = true, .nx = true},
                {.user = true, .fetch = true},
                WalkFault::kProtection},
               {{.writable = true, .user = true},
                {.user = true, .fetch = true},
                WalkFault::kNone}};
  for (const auto& [page, access, want] : cases) {
    for (const bool at_top : {false, true}) {
      WalkFixture f({.walk = {}, .psc = AllCaches()});
      f.Map(kPage, PageSize::k4K);
      f.Walk(kPage);
      const PhysAddr entry =
          at_top ? EntryAddress(f.table.root(),
                                EntryIndex(kPage, PagingLevel::kPml4e))
                 : f.table.Lookup(f.memory.tables, kPage)->leaf.address;
      f.memory.tables.Write(entry,
                            f.memory.tables.Read(entry).WithPermissions(page));
      f.psc.InvalidateAll();
      f.Walk(kPage, {.user = page.user});  // the caches carry the rights on
      EXPECT_EQ(f.Walk(kPage, access).fault, want);
    }
  }
}

TEST(PageWalker, AFaultChangesNoEntryAndNoPagingStructureCache) {
  WalkFixture f({.walk = Decimal(), .psc = AllCaches()});
  f.MapLeaf(kPage, Pte::Leaf(FrameNumber(9), PageSize::k4K, {.user = true}),
            PageSize::k4K, NodeId(0));
  const TableMemory before = f.memory.tables;
  const WalkResult denied = f.Walk(kPage, {.write = true, .user = true});
  EXPECT_EQ(denied.fault, WalkFault::kProtection);
  EXPECT_EQ(denied.loads, 4);
  const WalkResult absent = f.Walk(VirtPage(kPage.value() + 1));
  EXPECT_EQ(absent.fault, WalkFault::kNotPresent);
  EXPECT_EQ(absent.loads, 4);
  EXPECT_EQ(absent.cycles, Cycles(7 + 40));  // the first brought the lines
  EXPECT_EQ(f.Walk(VirtPage(0)).loads, 1);   // nothing at the root
  EXPECT_TRUE(f.memory.tables == before);
  EXPECT_TRUE(f.psc == PagingStructureCaches(AllCaches()));
}

TEST(PageWalker, AStaleEntryLeadsToATableThatIsNoMore) {
  WalkFixture f({.walk = {}, .psc = AllCaches()});
  f.Map(kPage, PageSize::k4K);
  f.Walk(kPage);
  f.table.Unmap(f.memory.tables, kPage);
  for (const UnhookedTable& t : f.table.CollectEmptyTables(
           f.memory, VirtPage(0), VirtPage(kVirtPageMask))) {
    FreeTable(f.memory, t.frame);
  }
  const WalkResult stale = f.Walk(kPage);
  EXPECT_EQ(stale.psc_hit, PagingLevel::kPde);
  EXPECT_EQ(stale.fault, WalkFault::kNotPresent);
  EXPECT_EQ(f.psc.InvalidateAddress(WalkFixture::kTag, kPage), 3u);
  EXPECT_EQ(f.Walk(kPage).psc_hit, PagingLevel::kPte);
}

TEST(PageWalker, GlobalIsToldFromTheLeaf) {
  WalkFixture f({.walk = {}, .psc = {}});
  f.MapLeaf(
      kPage,
      Pte::Leaf(FrameNumber(9), PageSize::k4K, {.user = true}).WithGlobal(true),
      PageSize::k4K, NodeId(0));
  EXPECT_TRUE(f.Walk(kPage).global);
}

// hardware.md 3.1, item 8: with uniformly random pages of a region of R bytes
// an LRU cache of C entries that each cover S bytes hits with min(1, C*S/R).
TEST(PageWalker, RandomAccessHitsThePdeCacheInProportionToItsReach) {
  const struct {
    uint64_t bytes;
    double pde_hits;  // 32 entries of 2 MiB
  } cases[] = {{uint64_t{64} << 20, 1.0},
               {uint64_t{256} << 20, 0.25},
               {uint64_t{1} << 30, 0.0625}};
  for (const auto& [bytes, pde_hits] : cases) {
    WalkFixture f({.walk = {}, .psc = AllCaches()});
    const uint64_t pages = bytes / kPageBytes;
    for (uint64_t i = 0; i < pages; ++i) f.Map(VirtPage(i), PageSize::k4K);
    Rng rng(3);
    for (int i = 0; i < 2000; ++i) f.Walk(VirtPage(rng.Below(pages)));
    constexpr int kWalks = 100'000;
    uint64_t loads = 0;
    for (int i = 0; i < kWalks; ++i) {
      loads += f.Walk(VirtPage(rng.Below(pages))).loads;
    }
    // The PDPTE cache covers all of it: a PDE miss costs one load more.
    EXPECT_NEAR(static_cast<double>(loads) / kWalks, 2 - pde_hits, 0.01);
  }
}

}  // namespace
}  // namespace lookaside
