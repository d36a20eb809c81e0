// SPDX-License-Identifier: Apache-2.0
//
// PageWalker, with page table, paging-structure caches and line caches, beside
// a walk put together from the naive twins.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <optional>

#include "lookaside/base/rng.h"
#include "lookaside/test/pagetable/walk_fixture.h"
#include "lookaside/testing/reference_page_table.h"
#include "lookaside/testing/reference_paging_structure_caches.h"
#include "lookaside/tlb/tlb_entry.h"

namespace lookaside {
namespace {

WalkFixtureConfig Config(int levels) {
  WalkFixtureConfig config{.levels = levels, .nodes = 2, .walk = {}, .psc = {}};
  config.psc = {.pml5e = 1, .pml4e = 2, .pdpte = 2, .pde = 4, .pde_ways = 2};
  config.walk.base_cycles = 11;
  config.walk.overlap = Permille(137);
  config.walk.l1 = {.lines = 4, .ways = 4, .cycles = 5};
  config.walk.l2 = {.lines = 8, .ways = 8, .cycles = 14};
  config.walk.l3 = {.lines = 16, .ways = 16, .cycles = 70};
  config.walk.local_memory_ns = 300;
  config.walk.remote_memory_ns = 500;
  return config;
}

// A fully associative LRU cache of lines.
class LineList {
 public:
  explicit LineList(size_t lines) : capacity_(lines) {}

  bool Load(uint64_t line) {
    const bool hit = lines_.remove(line) != 0;
    lines_.push_front(line);
    if (lines_.size() > capacity_) lines_.pop_back();
    return hit;
  }

 private:
  size_t capacity_;
  std::list<uint64_t> lines_;
};

class Differential {
 public:
  Differential(int levels, uint64_t seed)
      : config_(Config(levels)),
        real_(config_),
        table_(levels),
        psc_(config_.psc),
        rng_(seed) {}

  void Step() {
    const VirtPage page = RandomPage();
    const uint64_t choice = rng_.Below(100);
    if (choice < 12) {
      Map(page);
    } else if (choice < 16) {
      real_.table.Unmap(real_.memory.tables, page);
      table_.Unmap(page);
      Invlpg(page);
    } else if (choice < 20) {
      const PagePermissions p = RandomPermissions();
      real_.table.Protect(real_.memory.tables, page, p);
      table_.Protect(page, p);
      Invlpg(page);
    } else {
      Walk(page);
    }
  }

  const WalkFixture& real() const { return real_; }
  int plain_walks() const { return plain_walks_; }

 private:
  static constexpr ContextTag kTag = WalkFixture::kTag;

  VirtPage RandomPage() {
    uint64_t page = 0;
    for (int level = 0; level < real_.table.levels(); ++level) {
      page |= rng_.Below(level == 0 ? 30 : 2) << (9 * level);
    }
    return VirtPage(page);
  }
  PagePermissions RandomPermissions() {
    return {rng_.Below(3) != 0, rng_.Below(3) != 0, rng_.Below(3) == 0};
  }

  void Map(VirtPage page) {
    const PageSize size = rng_.Below(6) == 0 ? PageSize::k2M : PageSize::k4K;
    page = AlignDown(page, size);
    const Pte leaf =
        Pte::Leaf(FrameNumber(rng_.Below(64) << 9), size, RandomPermissions());
    const NodeId node(static_cast<uint32_t>(rng_.Below(2)));
    const bool ok = real_.table.Map(real_.memory, page, size, leaf, node).ok();
    ASSERT_EQ(ok, table_.Map(page, size, leaf));
  }

  void Invlpg(VirtPage page) {
    ASSERT_EQ(real_.psc.Invlpg(kTag, page), psc_.Invlpg(kTag, page));
  }

  LinePlace Load(VirtPage page, PagingLevel level) {
    const PhysAddr address = AddressOf(page, level);
    const uint64_t line = address.value() / 64;
    if (l1_.Load(line)) return LinePlace::kL1;
    if (l2_.Load(line)) return LinePlace::kL2;
    if (l3_.Load(line)) return LinePlace::kL3;
    const uint64_t node = address.value() / (uint64_t{64} << 30);
    return node == 0 ? LinePlace::kLocalMemory : LinePlace::kRemoteMemory;
  }

  // The twin knows no addresses of tables: ask the real tree.
  PhysAddr AddressOf(VirtPage page, PagingLevel level) const {
    FrameNumber table = real_.table.root();
    for (PagingLevel l = real_.table.top(); l != level; l = Below(l)) {
      table = real_.memory.tables.Read(EntryAddress(table, EntryIndex(page, l)))
                  .frame();
    }
    return EntryAddress(table, EntryIndex(page, level));
  }

  WalkResult Expect(VirtPage page, WalkAccess access) {
    WalkResult want;
    want.psc_hit = psc_.Find(kTag, page).level;
    const PagingLevel from = want.psc_hit == PagingLevel::kPte
                                 ? real_.table.top()
                                 : Below(want.psc_hit);
    const PagingLevel last = table_.LastLevel(page);
    uint64_t cycles = config_.walk.base_cycles;
    const uint64_t latency[] = {5, 14, 70, 300, 500};
    for (PagingLevel level = from;; level = Below(level)) {
      const LinePlace place = Load(page, level);
      cycles += latency[Index(place)];
      want.load[want.loads++] = {level, place};
      if (level == last) break;
    }
    want.cycles = Cycles(cycles - cycles * 137 / 1000);
    const std::optional<ReferencePageTable::Leaf> leaf = table_.Lookup(page);
    if (!leaf) {
      want.fault = WalkFault::kNotPresent;
      return want;
    }
    const PagePermissions p = leaf->pte.permissions();
    if ((access.write && !p.writable) || (access.user && !p.user) ||
        (access.fetch && p.nx)) {
      want.fault = WalkFault::kProtection;
      return want;
    }
    Commit(page, access, from, want);
    return want;
  }

  void Commit(VirtPage page, WalkAccess access, PagingLevel from,
              WalkResult& want) {
    ReferencePageTable::Leaf& leaf = table_.LeafOf(page);
    want.set_accessed = static_cast<uint8_t>(table_.SetAccessed(page, from) +
                                             !leaf.pte.accessed());
    want.set_dirty = access.write && !leaf.pte.dirty();
    leaf.pte =
        leaf.pte.WithAccessed(true).WithDirty(leaf.pte.dirty() || access.write);
    want.size = leaf.size;
    want.dirty = leaf.pte.dirty();
    want.permissions = leaf.pte.permissions();
    want.frame = leaf.pte.frame();
    for (PagingLevel l = from; l > LeafLevel(leaf.size); l = Below(l)) {
      psc_.Fill(kTag, page, l, {});
    }
  }

  void Walk(VirtPage page) {
    const WalkAccess access{.write = rng_.Below(3) == 0,
                            .user = rng_.Below(2) == 0,
                            .fetch = rng_.Below(3) == 0};
    const WalkResult want = Expect(page, access);
    // As on the machine's path: Walk follows a WalkPlain that declines.
    PlainWalk plain;
    if (access.user && real_.WalkPlain(page, access, plain)) {
      ++plain_walks_;
      return ComparePlain(page, plain, want);
    }
    const WalkResult got = real_.Walk(page, access);
    ASSERT_EQ(got.fault, want.fault);
    ASSERT_EQ(got.psc_hit, want.psc_hit);
    ASSERT_EQ(got.load, want.load);
    ASSERT_EQ(got.cycles, want.cycles);
    ASSERT_EQ(got.set_accessed, want.set_accessed);
    ASSERT_TRUE(got == want);
    const std::optional<Translation> leaf =
        real_.table.Lookup(real_.memory.tables, page);
    const std::optional<ReferencePageTable::Leaf> twin = table_.Lookup(page);
    ASSERT_EQ(leaf.has_value(), twin.has_value());
    if (leaf) {
      ASSERT_EQ(leaf->leaf.pte, twin->pte);
    }
    for (const PagingLevel level :
         {PagingLevel::kPde, PagingLevel::kPdpte, PagingLevel::kPml4e}) {
      ASSERT_EQ(real_.psc.Contains(kTag, page, level),
                psc_.Contains(kTag, page, level));
    }
    if (got.fault != WalkFault::kNone) {
      ASSERT_EQ(real_.psc.InvalidateAddress(kTag, page),
                psc_.InvalidateAddress(kTag, page));
    }
  }

  void ComparePlain(VirtPage page, const PlainWalk& got,
                    const WalkResult& want) const {
    ASSERT_EQ(want.fault, WalkFault::kNone);
    ASSERT_EQ(want.size, PageSize::k4K);
    ASSERT_EQ(want.set_accessed, 0);
    ASSERT_FALSE(want.set_dirty);
    ASSERT_EQ(want.psc_hit,
              got.loaded_pde ? PagingLevel::kPdpte : PagingLevel::kPde);
    ASSERT_EQ(want.loads, got.loaded_pde ? 2 : 1);
    if (got.loaded_pde) {
      ASSERT_EQ(got.pde, want.load[0].place);
    }
    ASSERT_EQ(got.pte, want.load[want.loads - 1].place);
    ASSERT_EQ(got.cycles, want.cycles);
    ASSERT_EQ(got.frame, want.frame);
    ASSERT_EQ((got.flags & kTlbWritable) != 0, want.permissions.writable);
    ASSERT_EQ((got.flags & kTlbUser) != 0, want.permissions.user);
    ASSERT_EQ((got.flags & kTlbNoExecute) != 0, want.permissions.nx);
    ASSERT_EQ((got.flags & kTlbDirty) != 0, want.dirty);
    ASSERT_EQ(got.flags & (kTlbGlobal | kTlbStale), 0);
    for (const PagingLevel level : {PagingLevel::kPde, PagingLevel::kPdpte}) {
      ASSERT_EQ(real_.psc.Contains(kTag, page, level),
                psc_.Contains(kTag, page, level));
    }
  }

  WalkFixtureConfig config_;
  WalkFixture real_;
  ReferencePageTable table_;
  ReferencePagingStructureCaches psc_;
  LineList l1_{4};
  LineList l2_{8};
  LineList l3_{16};
  Rng rng_;
  int plain_walks_ = 0;
};

TEST(PageWalkerDifferential, AgreesWithTheNaiveTwins) {
  for (const int levels : {4, 5}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      Differential run(levels, seed);
      for (int i = 0; i < 10000; ++i) {
        ASSERT_NO_FATAL_FAILURE(run.Step())
            << levels << " levels, seed " << seed << ", step " << i;
      }
      EXPECT_GT(run.plain_walks(), 100);
    }
  }
}

TEST(PageWalkerDifferential, ACopyDrivenOnEqualsItsOriginal) {
  Differential original(4, 21);
  for (int i = 0; i < 500; ++i) original.Step();
  Differential copy = original;
  for (int i = 0; i < 500; ++i) original.Step();
  EXPECT_FALSE(copy.real().memory == original.real().memory);
  for (int i = 0; i < 500; ++i) copy.Step();
  EXPECT_TRUE(copy.real().memory == original.real().memory);
  EXPECT_TRUE(copy.real().psc == original.real().psc);
  EXPECT_TRUE(copy.real().lines == original.real().lines);
  EXPECT_TRUE(copy.real().l3 == original.real().l3);
}

}  // namespace
}  // namespace lookaside
