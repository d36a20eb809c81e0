// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/tlb.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "lookaside/test/tlb/demand_tlb.h"
#include "lookaside/test/tlb/tlb_test_config.h"

namespace lookaside {
namespace {

TlbEntry Global(TlbEntry entry) {
  entry.context = kContext0.global;
  entry.flags |= kTlbGlobal;
  return entry;
}

TlbEntry PieceOf2M(TlbEntry entry) {
  entry.origin = PageSize::k2M;
  return entry;
}

bool Holds(const Tlb& tlb, const TlbContext& context, uint64_t page) {
  return tlb.Find(context, VirtPage(page), PageSize::k4K) != Tlb::kMiss;
}

TlbConfig Small(TlbSmt smt = TlbSmt::kCompetitive) {
  TlbConfig config = ArrayOf(16, 4, TlbReplacement::kLru);
  config.smt = smt;
  return config;
}

TEST(TlbKey, TakesApartWhatItWasMadeOf) {
  for (PageSize size : kAllPageSizes) {
    for (uint64_t page : {uint64_t{0}, uint64_t{0x12345678}, kVirtPageMask}) {
      const VirtPage aligned = AlignDown(VirtPage(page), size);
      for (uint16_t tag : {uint16_t{1}, uint16_t{0xffff}}) {
        const TlbKey key = MakeTlbKey(ContextTag(tag), VirtPage(page), size);
        EXPECT_EQ(PageOfKey(key), aligned);
        EXPECT_EQ(SizeOf(key), size);
        EXPECT_EQ(ContextOf(key), ContextTag(tag));
        EXPECT_NE(key, kNoTlbKey);
      }
    }
  }
}

TEST(Piece, TranslatesItsPageAsTheWholeDoes) {
  TlbEntry whole = EntryFor(kContext0, 512);
  whole.size = whole.origin = PageSize::k2M;
  whole.frame = FrameNumber(0x40000);
  const TlbEntry piece = Piece(whole, VirtPage(512 + 77), PageSize::k4K);
  EXPECT_EQ(piece.page, VirtPage(512 + 77));
  EXPECT_EQ(piece.frame, FrameNumber(0x40000 + 77));
  EXPECT_EQ(piece.size, PageSize::k4K);
  EXPECT_EQ(piece.origin, PageSize::k2M);
}

TEST(Tlb, AnEntryIsFoundByItsOwnAddressSpaceAlone) {
  Tlb tlb(Small(), 2, 1);
  tlb.Insert(EntryFor(kContext0, 5));
  EXPECT_TRUE(Holds(tlb, kContext0, 5));
  EXPECT_FALSE(Holds(tlb, kContext0, 6));
  EXPECT_FALSE(Holds(tlb, kContext1, 5));
}

TEST(Tlb, AGlobalEntryIsFoundByEveryAddressSpaceOfItsVpid) {
  Tlb tlb(Small(), 2, 1);
  tlb.Insert(Global(EntryFor(kContext0, 5)));
  EXPECT_TRUE(Holds(tlb, kContext0, 5));
  EXPECT_TRUE(Holds(tlb, kContext1, 5));
  TlbContext other_vpid = kContext1;
  other_vpid.global = ContextTag(101);
  EXPECT_FALSE(Holds(tlb, other_vpid, 5));
}

TEST(Tlb, SparesGlobalEntriesWhenAnAddressSpaceIsFlushed) {
  Tlb tlb(Small(), 2, 1);
  tlb.Insert(Global(EntryFor(kContext0, 5)));
  tlb.Insert(EntryFor(kContext0, 6));
  EXPECT_EQ(tlb.DropContext(kContext0.tag), 1u);
  EXPECT_TRUE(Holds(tlb, kContext0, 5));
  EXPECT_EQ(tlb.DropPage(kContext0, VirtPage(5), /*globals=*/false), 0u);
  EXPECT_EQ(tlb.DropPage(kContext0, VirtPage(5), /*globals=*/true), 1u);
}

TEST(Tlb, InvlpgDropsEveryPieceOfThePageAndNoOther) {
  Tlb tlb(Small(), 1, 1);
  for (uint64_t page : {512u, 513u, 1000u}) {
    tlb.Insert(PieceOf2M(EntryFor(kContext0, page)));
  }
  tlb.Insert(PieceOf2M(EntryFor(kContext0, 1024)));
  tlb.Insert(EntryFor(kContext0, 514));
  EXPECT_EQ(tlb.DropPage(kContext0, VirtPage(513), false), 3u);
  EXPECT_TRUE(Holds(tlb, kContext0, 1024));
  EXPECT_TRUE(Holds(tlb, kContext0, 514));
  tlb.CheckInvariants();
}

// It used to spare unfractured ones only.
TEST(Tlb, InvlpgSparesPiecesOfAGlobalPageInASiblingsShare) {
  Tlb tlb(Small(TlbSmt::kReplicated), 2, 1);
  tlb.Insert(PieceOf2M(Global(EntryFor(kContext0, 512))));
  tlb.Insert(PieceOf2M(Global(EntryFor(kContext1, 512))));
  EXPECT_EQ(tlb.DropPage(kContext0, VirtPage(600), true), 1u);
  EXPECT_FALSE(Holds(tlb, kContext0, 512));
  EXPECT_TRUE(Holds(tlb, kContext1, 512));
}

// It used to look for 4K entries in one share only.
TEST(Tlb, DropWithinReachesEveryShare) {
  for (TlbSmt smt : {TlbSmt::kPartitioned, TlbSmt::kReplicated}) {
    Tlb tlb(Small(smt), 2, 1);
    tlb.SetActiveThreads(0b11);
    tlb.Insert(Global(EntryFor(kContext0, 5)));
    tlb.Insert(Global(EntryFor(kContext1, 5)));
    EXPECT_EQ(tlb.DropWithin(kContext0.global, VirtPage(5), PageSize::k4K), 2u);
    EXPECT_EQ(tlb.size(), 0u);
  }
}

TEST(Tlb, AFreeWayIsTakenBeforeAnyEntryIsEvicted) {
  Tlb tlb(Small(), 1, 1);
  for (uint64_t page : {0u, 4u, 8u, 12u}) tlb.Insert(EntryFor(kContext0, page));
  tlb.Drop(tlb.Find(kContext0, VirtPage(8), PageSize::k4K));
  std::optional<TlbEntry> evicted;
  tlb.Insert(EntryFor(kContext0, 16), &evicted);
  EXPECT_EQ(evicted, std::nullopt);
  tlb.Insert(EntryFor(kContext0, 20), &evicted);
  ASSERT_TRUE(evicted.has_value());
  EXPECT_EQ(evicted->page, VirtPage(0));
}

TEST(Tlb, HoldsSizeSaysWhetherAnyEntryOfThatSizeIsHeld) {
  TlbConfig config = Small();
  config.pages.Add(PageSize::k2M);
  Tlb tlb(config, 1, 1);
  EXPECT_FALSE(tlb.HoldsSize(PageSize::k2M));
  TlbEntry entry = EntryFor(kContext0, 512);
  entry.size = entry.origin = PageSize::k2M;
  const uint32_t slot = tlb.Insert(entry).slot;
  EXPECT_TRUE(tlb.HoldsSize(PageSize::k2M));
  EXPECT_FALSE(tlb.HoldsSize(PageSize::k4K));
  tlb.Drop(slot);
  EXPECT_FALSE(tlb.HoldsSize(PageSize::k2M));
}

TEST(Tlb, AStoreMarksItsEntryDirtyAndAFillForgetsIt) {
  Tlb tlb(ArrayOf(1, 1, TlbReplacement::kLru), 1, 1);
  const uint32_t slot = tlb.Insert(EntryFor(kContext0, 5)).slot;
  tlb.SetDirty(slot);
  EXPECT_EQ(tlb.flags(slot), kTlbDirty);
  EXPECT_EQ(tlb.EntryAt(slot).flags, kTlbDirty);
  tlb.Insert(EntryFor(kContext0, 6));
  EXPECT_EQ(tlb.flags(slot), 0);
}

}  // namespace
}  // namespace lookaside
