// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/testing/reference_page_table.h"

namespace lookaside {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr PagePermissions kReadWrite{.writable = true, .user = true};
constexpr NodeId kNode(0);

PhysicalMemory MakeMemory(uint32_t nodes = 1, uint64_t gib = 64) {
  return {FrameAllocator::Create(nodes, gib * kGiB).value(), {}};
}

Fingerprint FingerprintOf(const PhysicalMemory& memory) {
  Digest digest;
  memory.AddTo(digest);
  return digest.Finish();
}

Pte Leaf(uint64_t frame, PageSize size = PageSize::k4K) {
  return Pte::Leaf(FrameNumber(frame), size, kReadWrite);
}

TEST(PageTable, AWalkOfEachDepthFindsWhatWasMapped) {
  for (const int levels : {4, 5}) {
    for (const PageSize size : kAllPageSizes) {
      PhysicalMemory memory = MakeMemory();
      const PageTable table = *PageTable::Create(memory, levels, kNode);
      const VirtPage page(uint64_t{3} << 18);
      const Pte leaf = Leaf(uint64_t{5} << 18, size);
      ASSERT_TRUE(table.Map(memory, page, size, leaf, kNode).ok());
      // One table per level from the root to the leaf's.
      EXPECT_EQ(memory.tables.size(),
                static_cast<size_t>(levels) - Index(size));
      const VirtPage last(page.value() + PagesIn(size) - 1);
      const std::optional<Translation> found =
          table.Lookup(memory.tables, last);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->leaf.page, page);
      EXPECT_EQ(found->leaf.size, size);
      EXPECT_EQ(found->leaf.pte, leaf);
      EXPECT_EQ(found->permissions, kReadWrite);
      EXPECT_FALSE(table.Lookup(memory.tables, VirtPage(last.value() + 1)));
      EXPECT_FALSE(table.Lookup(memory.tables, VirtPage(page.value() - 1)));
    }
  }
}

TEST(PageTable, TablesLieOnTheNodeAskedFor) {
  PhysicalMemory memory = MakeMemory(2);
  const PageTable table = *PageTable::Create(memory, 4, NodeId(1));
  ASSERT_TRUE(
      table.Map(memory, VirtPage(1), PageSize::k4K, Leaf(9), NodeId(0)).ok());
  EXPECT_EQ(memory.frames.NodeOf(table.root()), NodeId(1));
  EXPECT_EQ(memory.frames.used_frames(NodeId(1)), 1u);
  EXPECT_EQ(memory.frames.used_frames(NodeId(0)), 3u);
}

TEST(PageTable, OverlapIsRefusedAndNothingChanges) {
  PhysicalMemory memory = MakeMemory();
  const PageTable table = *PageTable::Create(memory, 4, kNode);
  const auto map = [&](uint64_t page, PageSize size) {
    return table.Map(memory, VirtPage(page), size, Leaf(0, size), kNode).code();
  };
  ASSERT_EQ(map(0, PageSize::k2M), absl::StatusCode::kOk);
  ASSERT_EQ(map(512, PageSize::k4K), absl::StatusCode::kOk);
  const PhysicalMemory before = memory;
  EXPECT_EQ(map(0, PageSize::k2M), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(map(511, PageSize::k4K), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(map(512, PageSize::k2M), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(map(0, PageSize::k1G), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(memory == before);
}

TEST(PageTable, NoMemoryForATableIsAnError) {
  PhysicalMemory memory = MakeMemory(1, 1);
  const PageTable table = *PageTable::Create(memory, 4, kNode);
  for (int i = 1; i < 512; ++i) {
    ASSERT_TRUE(memory.frames.Allocate(PageSize::k2M, kNode).ok());
  }
  for (int i = 1; i < 512; ++i) {
    ASSERT_TRUE(memory.frames.Allocate(PageSize::k4K, kNode).ok());
  }
  EXPECT_EQ(
      table.Map(memory, VirtPage(0), PageSize::k4K, Leaf(0), kNode).code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(table.Lookup(memory.tables, VirtPage(0)));
}

TEST(PageTable, ProtectKeepsEveryOtherBit) {
  PhysicalMemory memory = MakeMemory();
  const PageTable table = *PageTable::Create(memory, 4, kNode);
  const Pte leaf = Leaf(9).WithAccessed(true).WithDirty(true).WithGlobal(true);
  ASSERT_TRUE(table.Map(memory, VirtPage(7), PageSize::k4K, leaf, kNode).ok());
  const auto old = table.Protect(memory.tables, VirtPage(7), {.user = true});
  EXPECT_EQ(old->pte, leaf);
  EXPECT_EQ(table.Lookup(memory.tables, VirtPage(7))->leaf.pte,
            leaf.WithWritable(false));
  EXPECT_FALSE(table.Protect(memory.tables, VirtPage(8), {}));
}

TEST(PageTable, UpperLevelsMayForbid) {
  PhysicalMemory memory = MakeMemory();
  const PageTable table = *PageTable::Create(memory, 4, kNode);
  ASSERT_TRUE(
      table.Map(memory, VirtPage(0), PageSize::k4K, Leaf(9), kNode).ok());
  const PhysAddr top = EntryAddress(table.root(), 0);
  memory.tables.Write(top,
                      memory.tables.Read(top).WithWritable(false).WithNx(true));
  EXPECT_EQ(table.Lookup(memory.tables, VirtPage(0))->permissions,
            (PagePermissions{.writable = false, .user = true, .nx = true}));
}

TEST(PageTable, RangesCrossTheGapBetweenTheHalves) {
  for (const int levels : {4, 5}) {
    PhysicalMemory memory = MakeMemory();
    const PageTable table = *PageTable::Create(memory, levels, kNode);
    const uint64_t half = uint64_t{1} << (9 * levels - 1);
    const VirtPage pages[] = {VirtPage(half - 1),
                              VirtPage(kVirtPageMask + 1 - half),
                              VirtPage(kVirtPageMask)};
    for (const VirtPage page : pages) {
      ASSERT_TRUE(
          table.Map(memory, page, PageSize::k4K, Leaf(page.value()), kNode)
              .ok());
    }
    std::vector<VirtPage> seen;
    const auto note = [&](const LeafEntry& leaf) { seen.push_back(leaf.page); };
    table.ForEachLeaf(memory.tables, VirtPage(0), VirtPage(kVirtPageMask),
                      note);
    EXPECT_EQ(seen, std::vector<VirtPage>(std::begin(pages), std::end(pages)));
    seen.clear();
    table.ForEachLeaf(memory.tables, pages[1], pages[1], note);
    EXPECT_EQ(seen, std::vector<VirtPage>{pages[1]});
  }
}

TEST(PageTable, DestroyGivesEveryTableBack) {
  PhysicalMemory memory = MakeMemory();
  const PhysicalMemory empty = memory;
  const PageTable table = *PageTable::Create(memory, 5, kNode);
  for (uint64_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(
        table
            .Map(memory, VirtPage(i << (i % 30)), PageSize::k4K, Leaf(i), kNode)
            .ok());
  }
  table.Destroy(memory);
  EXPECT_TRUE(memory == empty);
  EXPECT_EQ(FingerprintOf(memory), FingerprintOf(empty));
}

class Differential {
 public:
  Differential(int levels, uint64_t seed)
      : memory_(MakeMemory()),
        table_(*PageTable::Create(memory_, levels, kNode)),
        twin_(levels),
        rng_(seed) {}

  void Step() {
    const VirtPage page = RandomPage();
    const uint64_t choice = rng_.Below(100);
    if (choice < 45) {
      Map(page);
    } else if (choice < 75) {
      CheckSame(table_.Unmap(memory_.tables, page), twin_.Unmap(page));
    } else if (choice < 92) {
      const PagePermissions p{rng_.Below(2) == 0, rng_.Below(2) == 0,
                              rng_.Below(2) == 0};
      CheckSame(table_.Protect(memory_.tables, page, p),
                twin_.Protect(page, p));
    } else {
      Collect(page, RandomPage());
    }
    CheckInvariants();
  }

  const PhysicalMemory& memory() const { return memory_; }

 private:
  using Leaf = ReferencePageTable::Leaf;

  // Few values of each index, so that operations meet; both halves.
  VirtPage RandomPage() {
    uint64_t page = 0;
    for (int level = 0; level < table_.levels(); ++level) {
      const uint64_t index = rng_.Below(3) == 0 ? 511 : rng_.Below(2);
      page |= index << (9 * level);
    }
    const uint64_t sign = uint64_t{1} << (9 * table_.levels() - 1);
    return VirtPage(((page ^ sign) - sign) & kVirtPageMask);
  }

  void Map(VirtPage page) {
    const auto size = static_cast<PageSize>(rng_.Below(10) == 0  ? 2
                                            : rng_.Below(4) == 0 ? 1
                                                                 : 0);
    page = AlignDown(page, size);
    const Pte leaf =
        Pte::Leaf(FrameNumber(rng_.Below(16) << 18), size,
                  {rng_.Below(2) == 0, rng_.Below(2) == 0, rng_.Below(2) == 0});
    const absl::Status status = table_.Map(memory_, page, size, leaf, kNode);
    ASSERT_EQ(status.ok(), twin_.Map(page, size, leaf)) << status.message();
  }

  void Collect(VirtPage first, VirtPage last) {
    if (last < first) std::swap(first, last);
    std::vector<ReferencePageTable::Table> got;
    for (const UnhookedTable& t :
         table_.CollectEmptyTables(memory_, first, last)) {
      got.push_back({t.level, t.page});
      ASSERT_EQ(memory_.tables.Used(t.frame), 0u);
      FreeTable(memory_, t.frame);
    }
    std::sort(got.begin(), got.end());
    ASSERT_TRUE(got == twin_.CollectEmptyTables(first, last));
  }

  void CheckSame(const std::optional<LeafEntry>& got,
                 const std::optional<Leaf>& want) {
    ASSERT_EQ(got.has_value(), want.has_value());
    if (!got) return;
    ASSERT_EQ(got->page, want->page);
    ASSERT_EQ(got->size, want->size);
    ASSERT_EQ(got->pte, want->pte);
  }

  void CheckInvariants() {
    ASSERT_EQ(memory_.tables.size(), twin_.tables());
    ASSERT_EQ(memory_.frames.used_frames(kNode), twin_.tables());
    const VirtPage page = RandomPage();
    const std::optional<Translation> found =
        table_.Lookup(memory_.tables, page);
    ASSERT_NO_FATAL_FAILURE(CheckSame(
        found ? std::optional(found->leaf) : std::nullopt, twin_.Lookup(page)));
    VirtPage last = RandomPage();
    if (last < page) last = VirtPage(kVirtPageMask);
    const std::vector<Leaf> want = twin_.Leafs(page, last);
    size_t i = 0;
    table_.ForEachLeaf(memory_.tables, page, last, [&](const LeafEntry& leaf) {
      ASSERT_LT(i, want.size());
      CheckSame(leaf, want[i++]);
      ASSERT_EQ(memory_.tables.Read(leaf.address), leaf.pte);
    });
    ASSERT_EQ(i, want.size());
  }

  PhysicalMemory memory_;
  PageTable table_;
  ReferencePageTable twin_;
  Rng rng_;
};

TEST(PageTable, AgreesWithTheNaiveTwin) {
  for (const int levels : {4, 5}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      Differential run(levels, seed);
      for (int i = 0; i < 4000; ++i) {
        ASSERT_NO_FATAL_FAILURE(run.Step())
            << levels << " levels, seed " << seed << ", step " << i;
      }
    }
  }
}

TEST(PageTable, ACopyDrivenOnEqualsItsOriginal) {
  Differential original(4, 11);
  for (int i = 0; i < 300; ++i) original.Step();
  Differential copy = original;
  const Fingerprint before = FingerprintOf(copy.memory());
  for (int i = 0; i < 300; ++i) original.Step();
  EXPECT_EQ(FingerprintOf(copy.memory()), before);
  EXPECT_NE(FingerprintOf(original.memory()), before);
  for (int i = 0; i < 300; ++i) copy.Step();
  EXPECT_TRUE(copy.memory() == original.memory());
  EXPECT_EQ(FingerprintOf(copy.memory()), FingerprintOf(original.memory()));
}

}  // namespace
}  // namespace lookaside
