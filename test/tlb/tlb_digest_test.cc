// SPDX-License-Identifier: Apache-2.0
//
// Digests: equal for states that behave alike however they were reached,
// different after a change of any one cell.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/test/tlb/demand_tlb.h"
#include "lookaside/test/tlb/tlb_test_config.h"
#include "lookaside/tlb/context_table.h"
#include "lookaside/tlb/tlb.h"

namespace lookaside {
namespace {

// Address spaces by name, in whatever order they appear.
class TlbDigest : public testing::Test {
 protected:
  static AddressSpaceTag Space(uint16_t pcid, uint16_t vpid = 0,
                               uint8_t thread = 0) {
    return {Vpid(vpid), Pcid(pcid), ThreadSlot(thread), false};
  }

  TlbEntry Entry(uint64_t page, uint16_t pcid = 1) {
    TlbEntry entry;
    entry.page = VirtPage(page);
    entry.frame = FrameNumber(page + 1000);
    entry.context = contexts_.Intern(Space(pcid));
    return entry;
  }

  static Fingerprint Of(const Tlb& tlb, const ContextTable& contexts) {
    Digest digest;
    tlb.AddTo(digest, contexts);
    return digest.Finish();
  }
  Fingerprint Of(const Tlb& tlb) const { return Of(tlb, contexts_); }

  ContextTable contexts_;
};

TlbConfig Mixed(TlbReplacement replacement, uint32_t entries, uint32_t ways) {
  TlbConfig config = ArrayOf(entries, ways, replacement);
  config.pages = {PageSize::k4K, PageSize::k2M, PageSize::k1G};
  return config;
}

TEST_F(TlbDigest, LruAndFifoContentInOtherWaysIsTheSameState) {
  for (TlbReplacement policy : {TlbReplacement::kLru, TlbReplacement::kFifo}) {
    Tlb plain(ArrayOf(8, 4, policy), 1, 1);
    for (uint64_t page : {0u, 2u, 4u, 6u}) plain.Insert(Entry(page));
    Tlb detour(ArrayOf(8, 4, policy), 1, 1);
    for (uint64_t page : {10u, 12u, 0u}) detour.Insert(Entry(page));
    detour.DropPage({contexts_.Intern(Space(1)),
                     contexts_.InternGlobal(Vpid(0)), ThreadSlot(0)},
                    VirtPage(10), false);
    for (uint64_t page : {2u, 4u, 6u}) detour.Insert(Entry(page));
    ASSERT_NE(detour.EntryAt(0), plain.EntryAt(0)) << "the detour is too short";
    EXPECT_EQ(Of(detour), Of(plain));
  }
}

TEST_F(TlbDigest, TheOrderInWhichAddressSpacesAppearedIsNotState) {
  ContextTable other;
  other.Intern(Space(9));
  other.Intern(Space(2));
  Tlb a(ArrayOf(8, 4, TlbReplacement::kTreePlru), 1, 1);
  Tlb b = a;
  for (uint16_t pcid : {uint16_t{1}, uint16_t{2}}) {
    TlbEntry entry = Entry(pcid, pcid);
    a.Insert(entry);
    entry.context = other.Intern(Space(pcid));
    b.Insert(entry);
  }
  EXPECT_EQ(Of(a), Of(b, other));
}

TEST_F(TlbDigest, AnyChangedCellOfAnEntryChangesIt) {
  const std::map<std::string, std::function<void(TlbEntry&)>> changes = {
      {"nothing", [](TlbEntry&) {}},
      {"page", [](TlbEntry& e) { e.page = VirtPage(4); }},
      {"page far off", [](TlbEntry& e) { e.page = VirtPage(1ull << 44); }},
      {"frame", [](TlbEntry& e) { e.frame = FrameNumber(7); }},
      {"writable", [](TlbEntry& e) { e.flags ^= kTlbWritable; }},
      {"user", [](TlbEntry& e) { e.flags ^= kTlbUser; }},
      {"no execute", [](TlbEntry& e) { e.flags ^= kTlbNoExecute; }},
      {"dirty", [](TlbEntry& e) { e.flags ^= kTlbDirty; }},
      {"size", [](TlbEntry& e) { e.size = e.origin = PageSize::k2M; }},
      {"origin", [](TlbEntry& e) { e.origin = PageSize::k2M; }},
      {"thread", [](TlbEntry& e) { e.thread = ThreadSlot(1); }},
      {"pcid", [this](TlbEntry& e) { e.context = contexts_.Intern(Space(2)); }},
      {"vpid",
       [this](TlbEntry& e) { e.context = contexts_.Intern(Space(1, 1)); }},
      {"thread of the space",
       [this](TlbEntry& e) { e.context = contexts_.Intern(Space(1, 0, 1)); }},
      {"global", [this](TlbEntry& e) {
         e.context = contexts_.InternGlobal(Vpid(0));
         e.flags |= kTlbGlobal;
       }}};
  for (TlbReplacement policy :
       {TlbReplacement::kLru, TlbReplacement::kFifo, TlbReplacement::kRandom,
        TlbReplacement::kTreePlru}) {
    std::map<Fingerprint, std::string> seen;
    for (const auto& [name, change] : changes) {
      TlbEntry entry = Entry(0);
      entry.flags = kTlbUser;
      change(entry);
      Tlb tlb(Mixed(policy, 8, 4), 2, 1);
      tlb.Insert(entry);
      const auto [known, is_new] = seen.emplace(Of(tlb), name);
      EXPECT_TRUE(is_new) << name << " is like " << known->second;
    }
  }
}

TEST_F(TlbDigest, TheOrderOfUseIsStateUnderLruAndNotUnderFifo) {
  for (TlbReplacement policy : {TlbReplacement::kLru, TlbReplacement::kFifo}) {
    Tlb a(ArrayOf(4, 4, policy), 1, 1);
    for (uint64_t page : {1u, 2u, 3u}) a.Insert(Entry(page));
    Tlb b = a;
    b.OnHit(0);
    EXPECT_EQ(Of(a) != Of(b), policy == TlbReplacement::kLru);
  }
}

TEST_F(TlbDigest, AHitOnTheNewestEntryIsNotState) {
  Tlb a(ArrayOf(4, 4, TlbReplacement::kLru), 1, 1);
  for (uint64_t page : {1u, 2u, 3u}) a.Insert(Entry(page));
  Tlb b = a;
  b.OnHit(2);
  EXPECT_EQ(Of(a), Of(b));
}

TEST_F(TlbDigest, EveryBitOfATreeIsState) {
  struct Shape {
    TlbReplacement policy;
    uint32_t ways;
  };
  for (const Shape& shape : {Shape{TlbReplacement::kTreePlru, 8},
                             Shape{TlbReplacement::kMru3Plru2, 6},
                             Shape{TlbReplacement::kMru3Plru4, 12}}) {
    Tlb full(ArrayOf(shape.ways, shape.ways, shape.policy), 1, 1);
    uint32_t last = 0;
    for (uint64_t page = 0; page < shape.ways; ++page) {
      last = full.Insert(Entry(page)).slot;
    }
    std::map<Fingerprint, uint32_t> seen{{Of(full), last}};
    // The way filled last points nothing another way; each other way does.
    for (uint32_t way = 0; way < shape.ways; ++way) {
      if (way == last) continue;
      Tlb touched = full;
      touched.OnHit(way);
      EXPECT_TRUE(seen.emplace(Of(touched), way).second) << "way " << way;
    }
  }
}

TEST_F(TlbDigest, TheStateOfTheGeneratorIsState) {
  TlbConfig config = ArrayOf(2, 2, TlbReplacement::kRandom);
  Tlb a(config, 1, /*seed=*/1);
  Tlb b(config, 1, /*seed=*/2);
  EXPECT_NE(Of(a), Of(b));
  config.replacement = TlbReplacement::kTreePlru;
  EXPECT_EQ(Of(Tlb(config, 1, 1)), Of(Tlb(config, 1, 2)));
}

TEST_F(TlbDigest, TheOrderOfPcidSlotsIsState) {
  TlbConfig config = ArrayOf(8, 4, TlbReplacement::kLru);
  config.pcid_slots = 4;
  const auto after = [&](std::vector<uint16_t> pcids) {
    Tlb tlb(config, 1, 1);
    for (uint16_t pcid : pcids) {
      tlb.OnLoadContext(contexts_.Intern(Space(pcid)), ThreadSlot(0));
    }
    return Of(tlb);
  };
  EXPECT_EQ(after({1, 2, 1}), after({2, 1}));
  EXPECT_NE(after({1, 2}), after({2, 1}));
  EXPECT_NE(after({1}), after({1, 2}));
  EXPECT_NE(after({1}), after({2}));
}

TEST_F(TlbDigest, WhichThreadsShareAPartitionedArrayIsState) {
  TlbConfig config = ArrayOf(8, 4, TlbReplacement::kLru);
  config.smt = TlbSmt::kPartitioned;
  Tlb a(config, 2, 1);
  Tlb b = a;
  b.SetActiveThreads(0b11);
  EXPECT_NE(Of(a), Of(b));
  b.SetActiveThreads(0b01);
  EXPECT_EQ(Of(a), Of(b));
}

// Page, frame, flags and address space all zero, in the first or second way
// of a set whose policy goes by position.
TEST_F(TlbDigest, AnEntryOfZerosIsNotAFreeWay) {
  Tlb first(ArrayOf(2, 2, TlbReplacement::kRandom), 1, 1);
  TlbEntry zero = Entry(0, 0);
  zero.frame = FrameNumber(0);
  Tlb second = first;
  first.Insert(zero);
  const uint32_t slot = second.Insert(Entry(2)).slot;
  second.Insert(zero);
  second.Drop(slot);
  ASSERT_EQ(second.size(), first.size());
  EXPECT_NE(Of(first), Of(second));
}

TEST_F(TlbDigest, ACopyDrivenOnEqualsItsOriginalAtEveryStep) {
  for (TlbReplacement policy :
       {TlbReplacement::kLru, TlbReplacement::kFifo, TlbReplacement::kRandom,
        TlbReplacement::kTreePlru}) {
    TlbConfig config = Mixed(policy, 32, 4);
    config.pcid_slots = 2;
    contexts_.Intern(Space(1));
    contexts_.Intern(Space(2));
    DemandTlb original(config, 2);
    Rng rng(6);
    for (int i = 0; i < 500; ++i) original.Access(rng.Below(64));
    DemandTlb copy = original;
    for (int i = 0; i < 500; ++i) {
      const uint64_t page = rng.Below(64);
      const TlbContext& context = rng.Below(2) == 0 ? kContext0 : kContext1;
      ASSERT_EQ(copy.Access(page, context), original.Access(page, context));
      ASSERT_EQ(Of(copy.tlb()), Of(original.tlb()));
    }
    copy.Access(1 << 20);
    EXPECT_NE(Of(copy.tlb()), Of(original.tlb()));
  }
}

}  // namespace
}  // namespace lookaside
