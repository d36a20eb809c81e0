// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/table_memory.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

Fingerprint FingerprintOf(const TableMemory& tables) {
  Digest digest;
  tables.AddTo(digest);
  return digest.Finish();
}

TEST(TableMemory, FramesThatAreNoTableReadAsZero) {
  TableMemory tables;
  EXPECT_TRUE(tables.Read(EntryAddress(FrameNumber(0), 0)).none());
  EXPECT_TRUE(
      tables.Read(EntryAddress(FrameNumber((uint64_t{1} << 40) - 1), 511))
          .none());
  tables.AddTable(FrameNumber(600));
  tables.Write(EntryAddress(FrameNumber(600), 3), Pte(1));
  EXPECT_TRUE(tables.Read(EntryAddress(FrameNumber(601), 3)).none());
  tables.RemoveTable(FrameNumber(600));
  EXPECT_FALSE(tables.IsTable(FrameNumber(600)));
  EXPECT_TRUE(tables.Read(EntryAddress(FrameNumber(600), 3)).none());
}

TEST(TableMemory, ANewTableIsZeroThoughItsPlaceWasUsed) {
  TableMemory tables;
  tables.AddTable(FrameNumber(1));
  tables.Write(EntryAddress(FrameNumber(1), 0), Pte(~uint64_t{0}));
  tables.RemoveTable(FrameNumber(1));
  tables.AddTable(FrameNumber(2));
  EXPECT_TRUE(tables.Read(EntryAddress(FrameNumber(2), 0)).none());
  EXPECT_EQ(tables.Used(FrameNumber(2)), 0u);
}

TEST(TableMemoryDeathTest, WritingWhereNoTableIsIsABug) {
  TableMemory tables;
  EXPECT_DEATH(tables.Write(PhysAddr(0x1000), Pte(1)), "");
  tables.AddTable(FrameNumber(1));
  EXPECT_DEATH(tables.AddTable(FrameNumber(1)), "");
  EXPECT_DEATH(tables.RemoveTable(FrameNumber(2)), "");
}

// A tree whose root is frame 1; frames 2, 3, ... are tables below it.
TableMemory TreeOf(uint64_t tables_below) {
  TableMemory tables;
  for (uint64_t frame = 1; frame <= tables_below + 1; ++frame) {
    tables.AddTable(FrameNumber(frame));
  }
  tables.MakeRoot(FrameNumber(1), PagingLevel::kPml4e);
  return tables;
}

void Point(TableMemory& tables, uint64_t table, unsigned index,
           uint64_t child) {
  tables.Write(EntryAddress(FrameNumber(table), index),
               Pte::Table(FrameNumber(child)));
}

TEST(TableMemory, ATableKnowsItsPlaceFromWhatPointsToIt) {
  TableMemory tables = TreeOf(3);
  EXPECT_FALSE(tables.place(FrameNumber(2)).known);
  Point(tables, 1, 5, 2);
  Point(tables, 2, 6, 3);
  Point(tables, 3, 7, 4);
  const TablePlace want{tables.place(FrameNumber(1)).tree,
                        VirtPage(uint64_t{5} << 27 | 6 << 18 | 7 << 9),
                        PagingLevel::kPte, true};
  EXPECT_EQ(tables.place(FrameNumber(4)), want);
  // mremap moves whole tables.
  tables.Write(EntryAddress(FrameNumber(3), 7), Pte());
  EXPECT_EQ(tables.place(FrameNumber(4)), want) << "unhooked, not elsewhere";
  Point(tables, 3, 8, 4);
  EXPECT_EQ(tables.place(FrameNumber(4)).first,
            VirtPage(uint64_t{5} << 27 | 6 << 18 | 8 << 9));
  tables.RemoveTable(FrameNumber(4));
  tables.AddTable(FrameNumber(4));
  EXPECT_FALSE(tables.place(FrameNumber(4)).known);
}

TEST(TableMemory, ChangesThatACopyMayContradictAreLogged) {
  TableMemory tables = TreeOf(3);
  Point(tables, 1, 0, 2);
  Point(tables, 2, 0, 3);
  Point(tables, 3, 1, 4);
  tables.LogChanges();
  const PhysAddr entry = EntryAddress(FrameNumber(4), 2);
  const auto logs = [&](Pte value) {
    tables.Write(entry, value);
    const bool logged = tables.has_changes();
    EXPECT_EQ(tables.TakeChanges().size(), logged ? 1u : 0u);
    return logged;
  };
  const Pte page = Pte::Leaf(FrameNumber(70), PageSize::k4K, {.user = true});
  EXPECT_FALSE(logs(page)) << "it was not present";
  EXPECT_FALSE(logs(page.WithAccessed(true)));
  EXPECT_FALSE(logs(page.WithAccessed(true).WithDirty(true)));
  EXPECT_FALSE(logs(page.WithDirty(true))) << "accessed cleared";
  EXPECT_TRUE(logs(page)) << "dirty cleared";
  EXPECT_TRUE(logs(page.WithWritable(true)));
  EXPECT_TRUE(logs(page));
  EXPECT_TRUE(logs(page.WithNx(true)));
  EXPECT_TRUE(logs(page.WithFrame(FrameNumber(71))));
  EXPECT_TRUE(logs(Pte()));
  EXPECT_FALSE(logs(Pte())) << "it was not present";
}

TEST(TableMemory, AChangeSaysWhatItCovers) {
  TableMemory tables = TreeOf(2);
  Point(tables, 1, 3, 2);
  tables.LogChanges();
  const Pte old = Pte::Table(FrameNumber(3));
  Point(tables, 2, 4, 3);
  tables.Write(EntryAddress(FrameNumber(2), 4), Pte());
  const std::vector<EntryChange> changes = tables.TakeChanges();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0], (EntryChange{tables.place(FrameNumber(1)).tree,
                                     VirtPage(uint64_t{3} << 27 | 4 << 18),
                                     PagingLevel::kPdpte, old, Pte()}));
}

TEST(TableMemory, AgreesWithAMapAndDigestsItsContentsAlone) {
  TableMemory tables;
  std::set<uint64_t> frames;
  std::map<uint64_t, uint64_t> entries;  // by address; only what is not zero
  Rng rng(5);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t frame =
        rng.Below(8) << 16 | rng.Below(4) << 8 | rng.Below(2);
    const PhysAddr address =
        EntryAddress(FrameNumber(frame), static_cast<unsigned>(rng.Below(512)));
    if (!frames.contains(frame)) {
      tables.AddTable(FrameNumber(frame));
      frames.insert(frame);
    } else if (rng.Below(100) == 0) {
      tables.RemoveTable(FrameNumber(frame));
      frames.erase(frame);
      const uint64_t first = frame << kPageShift;
      entries.erase(entries.lower_bound(first),
                    entries.lower_bound(first + kPageBytes));
    } else {
      const uint64_t bits = rng.Below(3);
      tables.Write(address, Pte(bits));
      if (bits == 0) entries.erase(address.value());
      if (bits != 0) entries[address.value()] = bits;
    }
    const auto entry = entries.find(address.value());
    ASSERT_EQ(tables.Read(address).bits(),
              entry == entries.end() ? 0 : entry->second);
    ASSERT_EQ(tables.size(), frames.size());
  }
  TableMemory rebuilt;
  for (const uint64_t frame : frames) {
    rebuilt.AddTable(FrameNumber(frame));
    const uint64_t first = frame << kPageShift;
    ASSERT_EQ(tables.Used(FrameNumber(frame)),
              std::distance(entries.lower_bound(first),
                            entries.lower_bound(first + kPageBytes)));
  }
  for (const auto& [address, bits] : entries) {
    rebuilt.Write(PhysAddr(address), Pte(bits));
  }
  EXPECT_TRUE(rebuilt == tables);
  EXPECT_EQ(FingerprintOf(rebuilt), FingerprintOf(tables));
}

TEST(TableMemory, AnyChangedCellChangesTheDigest) {
  TableMemory base;
  base.AddTable(FrameNumber(7));
  const Fingerprint before = FingerprintOf(base);
  for (unsigned index = 0; index < kEntriesPerTable; ++index) {
    for (const uint64_t bits : {uint64_t{1}, uint64_t{1} << 63}) {
      TableMemory changed = base;
      changed.Write(EntryAddress(FrameNumber(7), index), Pte(bits));
      EXPECT_NE(FingerprintOf(changed), before);
      EXPECT_FALSE(changed == base);
    }
  }
  TableMemory moved;
  moved.AddTable(FrameNumber(8));
  EXPECT_NE(FingerprintOf(moved), before);
  EXPECT_FALSE(moved == base);
  EXPECT_EQ(FingerprintOf(base), before);
}

}  // namespace
}  // namespace lookaside
