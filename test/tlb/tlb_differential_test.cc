// SPDX-License-Identifier: Apache-2.0
//
// One array and its naive twin under the same random operations: whatever can
// be asked of them stays equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/test/tlb/tlb_test_config.h"
#include "lookaside/testing/reference_tlb.h"
#include "lookaside/tlb/tlb.h"

namespace lookaside {

// For GoogleTest's messages.
void PrintTo(const TlbEntry& entry, std::ostream* out) {
  *out << "{page " << entry.page.value() << " " << Name(entry.size) << " of "
       << Name(entry.origin) << ", frame " << entry.frame.value()
       << ", context " << entry.context.value() << ", flags "
       << int{entry.flags} << ", thread " << int{entry.thread.value()} << "}";
}

namespace {

struct Case {
  std::string name;
  TlbConfig config;
  uint32_t threads = 1;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<TlbEntry> Sorted(std::vector<TlbEntry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const TlbEntry& a, const TlbEntry& b) {
              return std::tuple(a.page, a.size, a.context, a.thread) <
                     std::tuple(b.page, b.size, b.context, b.thread);
            });
  return entries;
}

class Pair {
 public:
  explicit Pair(const Case& c)
      : config_(c.config),
        threads_(c.threads),
        real_(c.config, c.threads, kSeed),
        twin_(c.config, c.threads, kSeed) {}

  void Step() {
    const uint64_t choice = rng_.Below(100);
    if (choice < 75) {
      Access();
    } else if (choice < 90) {
      DropSomePage();
    } else if (choice < 94) {
      LoadContext();
    } else if (choice < 97) {
      DropSomeContexts();
    } else if (choice < 98) {
      ChangeActiveThreads();
    } else if (choice < 99) {
      DropWithin();
    } else if (rng_.Below(8) == 0) {
      DropAll();
    }
  }

  void ExpectEqual() const {
    real_.CheckInvariants();
    const std::vector<TlbEntry> want = Sorted(twin_.Entries());
    std::vector<TlbEntry> got;
    std::array<bool, kPageSizes> holds{};
    for (uint32_t slot = 0; slot < real_.slots(); ++slot) {
      const TlbEntry entry = real_.EntryAt(slot);
      if (entry.context != ContextTag(0)) got.push_back(entry);
    }
    for (const TlbEntry& entry : want) holds.at(Index(entry.size)) = true;
    ASSERT_EQ(Sorted(got), want);
    ASSERT_EQ(real_.size(), want.size());
    for (PageSize size : kAllPageSizes) {
      ASSERT_EQ(real_.HoldsSize(size), holds.at(Index(size)));
    }
  }

 private:
  static constexpr uint64_t kSeed = 17;
  static constexpr ContextTag kGlobal{100};

  uint64_t Below(uint64_t bound) { return rng_.Below(bound); }

  // Three address spaces per thread; a thread of those that are active.
  TlbContext SomeContext() {
    uint32_t thread = 0;
    do {
      thread = static_cast<uint32_t>(Below(threads_));
    } while ((active_ >> thread & 1) == 0);
    return {ContextTag(static_cast<uint16_t>(1 + 3 * thread + Below(3))),
            kGlobal, ThreadSlot(static_cast<uint8_t>(thread))};
  }

  // Pages that meet in few sets, far and near, and in few larger pages.
  VirtPage SomePage() {
    const uint64_t pages_per_way = std::min(config_.sets(), 8u);
    uint64_t page = Below(pages_per_way) + config_.sets() * Below(3) +
                    (Below(3) << 14) + (Below(2) << 20);
    if (Below(20) == 0) page |= uint64_t{1} << 44;
    return VirtPage(page);
  }

  PageSize SomeSize() {
    PageSize size = PageSize::k4K;
    do {
      size = kAllPageSizes[Below(kPageSizes)];
    } while (!config_.pages.Has(size));
    return size;
  }

  TlbEntry SomeEntry(const TlbContext& context, VirtPage page, PageSize size) {
    TlbEntry entry;
    entry.page = AlignDown(page, size);
    entry.frame = FrameNumber(Below(1 << 20));
    entry.size = size;
    entry.origin = size;
    if (config_.fracture && Below(3) == 0) {
      entry.origin = kAllPageSizes[Index(size) + Below(3 - Index(size))];
    }
    entry.flags = static_cast<uint8_t>(Below(32));
    if (Below(4) != 0) entry.flags &= static_cast<uint8_t>(~kTlbGlobal);
    entry.context =
        (entry.flags & kTlbGlobal) != 0 ? context.global : context.tag;
    entry.thread = context.thread;
    return entry;
  }

  void Access() {
    const TlbContext context = SomeContext();
    const VirtPage page = SomePage();
    const PageSize size = SomeSize();
    const uint32_t slot = real_.Find(context, page, size);
    TlbEntry* const entry = twin_.Find(context, page, size);
    ASSERT_EQ(slot != Tlb::kMiss, entry != nullptr);
    if (entry == nullptr) return Insert(SomeEntry(context, page, size));
    ASSERT_EQ(real_.EntryAt(slot), *entry);
    ASSERT_EQ(real_.flags(slot), entry->flags);
    const uint64_t choice = Below(16);
    if (choice == 0) {
      real_.Drop(slot);
      twin_.Drop(entry);
    } else if (choice == 1) {
      real_.SetDirty(slot);
      entry->flags |= kTlbDirty;
    } else if (choice < 14) {  // else: looked at, but not used
      real_.OnHit(slot);
      twin_.OnHit(entry);
    }
  }

  void Insert(const TlbEntry& entry) {
    std::optional<TlbEntry> evicted;
    const Tlb::Inserted got = real_.Insert(entry, &evicted);
    const ReferenceTlb::Inserted want = twin_.Insert(entry);
    ASSERT_EQ(evicted, want.evicted);
    ASSERT_EQ(got.displaced, evicted.has_value());
    ASSERT_EQ(got.dropped, want.dropped);
    ASSERT_EQ(real_.EntryAt(got.slot), entry);
    ASSERT_EQ(*want.entry, entry);
  }

  void DropSomePage() {
    const TlbContext context = SomeContext();
    const VirtPage page = SomePage();
    const bool globals = Below(2) == 0;
    ASSERT_EQ(real_.DropPage(context, page, globals),
              twin_.DropPage(context, page, globals));
  }

  void DropWithin() {
    const TlbContext context = SomeContext();
    const PageSize size = kAllPageSizes[Below(kPageSizes)];
    const VirtPage first = AlignDown(SomePage(), size);
    const ContextTag tag = Below(2) == 0 ? context.global : context.tag;
    ASSERT_EQ(real_.DropWithin(tag, first, size),
              twin_.DropWithin(tag, first, size));
  }

  void LoadContext() {
    const TlbContext context = SomeContext();
    ASSERT_EQ(real_.OnLoadContext(context.tag, context.thread),
              twin_.OnLoadContext(context.tag, context.thread));
  }

  void DropSomeContexts() {
    const ContextTag tag = SomeContext().tag;
    const auto same = [tag](ContextTag other) { return other == tag; };
    const auto other_than = [tag](ContextTag other) { return other != tag; };
    if (Below(4) == 0) {
      ASSERT_EQ(real_.DropContextsIf(other_than),
                twin_.DropContextsIf(other_than));
    } else {
      ASSERT_EQ(real_.DropContext(tag), twin_.DropContextsIf(same));
    }
  }

  void ChangeActiveThreads() {
    active_ = static_cast<uint32_t>(1 + Below((1u << threads_) - 1));
    ASSERT_EQ(real_.SetActiveThreads(active_), twin_.SetActiveThreads(active_));
    ASSERT_EQ(real_.SetActiveThreads(0), 0u);
  }

  void DropAll() {
    const auto all = [](ContextTag) { return true; };
    ASSERT_EQ(real_.DropAll(), twin_.DropContextsIf(all));
  }

  TlbConfig config_;
  uint32_t threads_;
  uint32_t active_ = 1;
  Tlb real_;
  ReferenceTlb twin_;
  Rng rng_{5};
};

TlbConfig Mixed(TlbConfig config) {
  config.pages = {PageSize::k4K, PageSize::k2M, PageSize::k1G};
  return config;
}

TlbConfig Fractured(TlbConfig config) {
  config.pages = {PageSize::k4K, PageSize::k2M};
  config.fracture = true;
  return config;
}

TlbConfig Shared(TlbConfig config, TlbSmt smt) {
  config.smt = smt;
  return config;
}

TlbConfig Slots(TlbConfig config, uint32_t pcid_slots) {
  config.pcid_slots = pcid_slots;
  return config;
}

std::vector<Case> Geometries() {
  using enum TlbReplacement;
  using enum TlbHash;
  return {
      {"Lru4Way", ArrayOf(32, 4, kLru)},
      {"Lru8WayXor7", ArrayOf(64, 8, kLru, kXor7)},
      {"LruFullyAssociative", ArrayOf(16, 16, kLru)},
      {"LruOneWay", ArrayOf(32, 1, kLru)},
      {"LruOf80Ways", ArrayOf(160, 80, kLru)},
      {"LruOneEntry", ArrayOf(1, 1, kLru)},
      {"Lru3Way", ArrayOf(12, 3, kLru)},
      {"Fifo4Way", ArrayOf(32, 4, kFifo)},
      {"FifoFullyAssociative", ArrayOf(8, 8, kFifo)},
      {"Random4WayXor8", ArrayOf(32, 4, kRandom, kXor8)},
      {"Random5Way", ArrayOf(20, 5, kRandom)},
      {"TreePlru4", ArrayOf(32, 4, kTreePlru)},
      {"TreePlru8Xor8", ArrayOf(64, 8, kTreePlru, kXor8)},
      {"TreePlru64", ArrayOf(64, 64, kTreePlru)},
      {"TreePlru1", ArrayOf(8, 1, kTreePlru)},
      {"Mru3Plru2", ArrayOf(24, 6, kMru3Plru2)},
      {"Mru3Plru4Xor7", ArrayOf(48, 12, kMru3Plru4, kXor7)},
      {"Xor7OfAll128Sets", ArrayOf(256, 2, kLru, kXor7)},
      {"Xor8OfAll256Sets", ArrayOf(256, 1, kLru, kXor8)},
  };
}

std::vector<Case> Sharing() {
  using enum TlbReplacement;
  using enum TlbHash;
  using enum TlbSmt;
  return {
      {"Competitive", Shared(Mixed(ArrayOf(32, 4, kLru)), kCompetitive), 2},
      {"PartitionedSets",
       Shared(Mixed(ArrayOf(32, 4, kTreePlru, kXor7)), kPartitioned), 2},
      {"PartitionedAmongFour",
       Shared(Fractured(ArrayOf(32, 4, kLru)), kPartitioned), 4},
      {"PartitionedWays",
       Shared(Fractured(ArrayOf(16, 16, kTreePlru)), kPartitioned), 4},
      {"PartitionedSetsAndWays", Shared(ArrayOf(16, 8, kFifo), kPartitioned),
       4},
      {"PartitionedRandom", Shared(ArrayOf(16, 2, kRandom), kPartitioned), 2},
      {"Replicated", Shared(Mixed(ArrayOf(8, 8, kLru)), kReplicated), 2},
      {"ReplicatedFractured",
       Shared(Fractured(ArrayOf(32, 4, kTreePlru)), kReplicated), 3},
      {"MixedSizes", Mixed(ArrayOf(48, 12, kMru3Plru4)), 1},
      {"Fractured", Fractured(ArrayOf(24, 6, kMru3Plru2)), 2},
  };
}

std::vector<Case> PcidSlotCases() {
  using enum TlbReplacement;
  using enum TlbSmt;
  return {
      {"NoPcidSlot", Slots(ArrayOf(32, 4, kTreePlru), 0), 2},
      {"OnePcidSlot", Slots(ArrayOf(32, 4, kLru), 1), 2},
      {"TwoPcidSlots", Slots(Mixed(ArrayOf(32, 4, kFifo)), 2), 1},
      {"FourPcidSlotsShared", Slots(ArrayOf(48, 12, kMru3Plru4), 4), 2},
      {"TwoPcidSlotsPartitioned",
       Slots(Shared(ArrayOf(32, 4, kLru), kPartitioned), 2), 2},
      {"TwoPcidSlotsReplicated",
       Slots(Shared(ArrayOf(8, 8, kLru), kReplicated), 2), 2},
  };
}

class TlbDifferentialTest : public testing::TestWithParam<Case> {};

TEST_P(TlbDifferentialTest, TwinsStayEqualUnderRandomOperations) {
  Pair pair(GetParam());
  for (int step = 0; step < 3000; ++step) {
    pair.Step();
    if (HasFatalFailure()) FAIL() << "operation of step " << step;
    pair.ExpectEqual();
    if (HasFatalFailure()) FAIL() << "state after step " << step;
  }
}

std::string NameOf(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Geometry, TlbDifferentialTest,
                         testing::ValuesIn(Geometries()), NameOf);
INSTANTIATE_TEST_SUITE_P(Sharing, TlbDifferentialTest,
                         testing::ValuesIn(Sharing()), NameOf);
INSTANTIATE_TEST_SUITE_P(PcidSlots, TlbDifferentialTest,
                         testing::ValuesIn(PcidSlotCases()), NameOf);

}  // namespace
}  // namespace lookaside
