// SPDX-License-Identifier: Apache-2.0
//
// All arrays of a core and their naive twin under the same random accesses
// and flushes: where translations are found, what the arrays hold and every
// counter stay equal. Beside that, what `tlb.inclusion` promises is looked up
// in the contents themselves, so that no rule may be wrong in both twins.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/test/tlb/tlb_test_config.h"
#include "lookaside/testing/reference_tlb_hierarchy.h"
#include "lookaside/tlb/tlb_hierarchy.h"
#include "lookaside/tlb/validate_tlb.h"

namespace lookaside {
namespace {

struct Case {
  std::string name;
  TlbHierarchyConfig config;
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
      : threads_(c.threads),
        inclusion_(c.config.inclusion),
        real_(c.config, c.threads, kSeed),
        twin_(c.config, c.threads, kSeed),
        got_(c.config.arrays.size()),
        want_(c.config.arrays.size()) {}

  void Step() {
    const uint64_t choice = Below(100);
    dirty_before_.reset();
    if (choice < 85) {
      dirty_before_ = OnDataSide(1, kTlbDirty);
      invalidated_before_ = Invalidated();
      Access();
    } else if (choice < 93) {
      const TlbContext context = SomeContext();
      const VirtPage page = SomePage();
      const bool globals = Below(2) == 0;
      real_.DropPage(context, page, globals, got_);
      twin_.DropPage(context, page, globals, want_);
    } else if (choice < 96) {
      const TlbContext context = SomeContext();
      real_.OnLoadContext(context, got_);
      twin_.OnLoadContext(context, want_);
    } else if (choice < 98) {
      DropContexts();
    } else if (Below(3) == 0) {
      active_ = static_cast<uint32_t>(1 + Below((1u << threads_) - 1));
      real_.SetActiveThreads(active_, got_);
      twin_.SetActiveThreads(active_, want_);
    }
  }

  void ExpectEqual() const {
    real_.CheckInvariants();
    for (size_t i = 0; i < got_.size(); ++i) {
      const Tlb& array = real_.arrays()[i];
      ASSERT_TRUE(got_[i] == want_[i]) << array.config().name;
      ASSERT_TRUE(Contents(array) == Sorted(twin_.arrays()[i].Entries()))
          << array.config().name;
    }
    if (inclusion_ == TlbInclusion::kInclusive) ExpectInclusion();
    if (inclusion_ == TlbInclusion::kExclusive) ExpectExclusion();
  }

  const std::vector<TlbCounters>& counters() const { return got_; }

 private:
  static constexpr uint64_t kSeed = 23;
  static constexpr ContextTag kGlobal{100};

  using Name = std::tuple<ContextTag, VirtPage, PageSize>;
  static Name NameOf(const TlbEntry& entry) {
    return {entry.context, entry.page, entry.size};
  }
  std::set<Name> HeldOn(uint32_t level) const {
    std::set<Name> held;
    for (const Tlb& array : real_.arrays()) {
      if (array.config().level != level) continue;
      for (const TlbEntry& e : Contents(array)) held.insert(NameOf(e));
    }
    return held;
  }
  // Of one context's own 4K pages: the pages of a region of large ones are not
  // all global or all not, which no page table could say.
  std::set<Name> OnDataSide(uint32_t level, uint8_t flags) const {
    std::set<Name> held;
    for (const Tlb& array : real_.arrays()) {
      if (array.config().side == TlbSide::kInst) continue;
      if (array.config().level < level) continue;
      for (const TlbEntry& e : Contents(array)) {
        if (e.context == kGlobal || e.origin != PageSize::k4K) continue;
        if ((e.flags & flags) == flags) held.insert(NameOf(e));
      }
    }
    return held;
  }
  uint64_t Invalidated() const {
    uint64_t sum = 0;
    for (const TlbCounters& counters : got_) sum += counters.invalidated;
    return sum;
  }
  bool HasSecondLevel() const {
    return real_.arrays().back().config().level == 2;
  }

  // Every second level of a case holds whole 4K pages.
  void ExpectInclusion() const {
    if (!HasSecondLevel()) return;
    const std::set<Name> second = HeldOn(2);
    for (const Tlb& array : real_.arrays()) {
      for (const TlbEntry& e : Contents(array)) {
        if (e.origin != PageSize::k4K) continue;
        ASSERT_TRUE(second.count(NameOf(e)) == 1)
            << array.config().name << " keeps page " << e.page.value()
            << ", which has left the second level";
      }
    }
  }

  // No access makes the data side forget that a page is dirty while the second
  // level still holds the page; and where both sides share the first level, no
  // translation is on both levels.
  void ExpectExclusion() const {
    const std::set<Name> second = HeldOn(2);
    if (dirty_before_ && Invalidated() == invalidated_before_) {
      const std::set<Name> dirty = OnDataSide(1, kTlbDirty);
      const std::set<Name> below = OnDataSide(2, 0);
      for (const Name& name : *dirty_before_) {
        ASSERT_TRUE(dirty.count(name) == 1 || below.count(name) == 0)
            << "page " << std::get<1>(name).value() << " is clean again";
      }
    }
    if (!real_.has_unified_first_level()) return;
    for (const Name& name : HeldOn(1)) {
      if (std::get<0>(name) == kGlobal) continue;  // several threads' copies
      ASSERT_TRUE(second.count(name) == 0)
          << "page " << std::get<1>(name).value() << " is on both levels";
    }
  }

  uint64_t Below(uint64_t bound) { return rng_.Below(bound); }

  static std::vector<TlbEntry> Contents(const Tlb& array) {
    std::vector<TlbEntry> entries;
    for (uint32_t slot = 0; slot < array.slots(); ++slot) {
      const TlbEntry entry = array.EntryAt(slot);
      if (entry.context != ContextTag(0)) entries.push_back(entry);
    }
    return Sorted(entries);
  }

  TlbContext SomeContext() {
    uint32_t thread = 0;
    do {
      thread = static_cast<uint32_t>(Below(threads_));
    } while ((active_ >> thread & 1) == 0);
    return {ContextTag(static_cast<uint16_t>(1 + 2 * thread + Below(2))),
            kGlobal, ThreadSlot(static_cast<uint8_t>(thread))};
  }

  // Of each eight gigabytes a few neighbouring pages: 24 of 4K in the first,
  // and in the others pages of 2M or 1G that are touched in few places.
  VirtPage SomePage() {
    const uint64_t region = Below(4);
    return VirtPage((region << 21) + (Below(3) << 9) * (region != 0) +
                    (Below(2) << 18) * (region != 0) +
                    Below(region == 0 ? 24 : 3));
  }

  // What the page tables say of a page never changes, but for its region.
  TlbEntry Walk(const TlbContext& context, VirtPage page) {
    const uint64_t region = page.value() >> 21;
    const PageSize size = region < 2    ? PageSize::k4K
                          : region == 2 ? PageSize::k2M
                                        : PageSize::k1G;
    TlbEntry entry;
    entry.page = AlignDown(page, size);
    entry.frame = FrameNumber(entry.page.value() + (uint64_t{1} << 24));
    entry.size = size;
    entry.origin = size;
    const bool global = page.value() % 5 == 0;
    entry.flags = global ? kTlbGlobal : kTlbWritable;
    entry.context = global ? context.global : context.tag;
    entry.thread = context.thread;
    return entry;
  }

  void Access() {
    const TlbContext context = SomeContext();
    const VirtPage page = SomePage();
    const AccessSide side =
        Below(3) == 0 ? AccessSide::kInst : AccessSide::kData;
    const bool misses = MissesPlainly(side, context, page);
    const auto got = real_.Lookup(side, context, page, got_);
    ASSERT_FALSE(misses && got.level != 0);
    const auto want = twin_.Lookup(side, context, page, want_);
    ASSERT_EQ(got.level, want.level);
    if (want.level == 0) return Fill(side, context, page);
    Compare(got, want);
    ASSERT_EQ(got.second_array, want.second_array);
    if (Below(10) == 0) return;  // the access faulted: counted elsewhere
    real_.CountHit(side, page, got, got_);
    twin_.CountHit(side, page, want, want_);
    if (side == AccessSide::kInst || Below(4) != 0) return;
    real_.SetDirty(context, page);
    twin_.SetDirty(context, page);
  }

  void Fill(AccessSide side, const TlbContext& context, VirtPage page) {
    const TlbEntry walked = Walk(context, page);
    twin_.CountMiss(side, page, walked.size, want_);
    const auto want = twin_.Fill(side, page, walked, want_);
    const bool plain = walked.size == PageSize::k4K &&
                       (walked.flags & kTlbGlobal) == 0 &&
                       real_.has_plain_fill(side);
    if (plain && Below(2) == 0) {
      Compare(FillPlain(side, context, page,
                        {walked.frame, walked.flags, walked.source}),
              want);
      return;
    }
    real_.CountMiss(side, page, walked.size, got_);
    Compare(real_.Fill(side, page, walked, got_), want);
  }

  // Where the first level's array, looked at alone, does not hold the page.
  bool MissesPlainly(AccessSide side, const TlbContext& context,
                     VirtPage page) {
    const uint8_t first = real_.only_first_4k(side);
    if (!real_.has_plain_fill(side) || first == TlbHierarchy::kNone ||
        real_.array(first).Find(context, page, PageSize::k4K) != Tlb::kMiss) {
      return false;
    }
    auto places = PlacesOf(context, page, first);
    return real_.PlainArraysOf(side, got_).Misses(context, page, places);
  }

  TlbHierarchy::PlainPlaces PlacesOf(const TlbContext& context, VirtPage page,
                                     uint8_t first) {
    return {Tlb::Page(context.tag, page),
            real_.array(first).SetFor(context, page), 0};
  }

  // In one, or, where it is plain that nothing is there, in its steps.
  TlbHierarchy::Found FillPlain(AccessSide side, const TlbContext& context,
                                VirtPage page, const Tlb::Filling& filling) {
    const uint8_t first = real_.only_first_4k(side);
    if (Below(2) == 0 && first != TlbHierarchy::kNone) {
      const auto arrays = real_.PlainArraysOf(side, got_);
      auto places = PlacesOf(context, page, first);
      if (arrays.Misses(context, page, places)) {
        return arrays.Fill(context, places, filling);
      }
    }
    return real_.FillPlain(side, context, page, filling, got_);
  }

  void Compare(const TlbHierarchy::Found& got,
               const ReferenceTlbHierarchy::Found& want) const {
    ASSERT_EQ(got.array, want.array);
    ASSERT_EQ(got.size, want.size);
    ASSERT_EQ(got.flags, want.entry->flags);
    ASSERT_TRUE(real_.arrays()[got.array].EntryAt(got.slot) == *want.entry);
  }

  void DropContexts() {
    const ContextTag tag = SomeContext().tag;
    const auto same = [tag](ContextTag other) { return other == tag; };
    const auto all = [](ContextTag) { return true; };
    if (Below(8) == 0) {
      real_.DropContextsIf(all, got_);
      twin_.DropContextsIf(all, want_);
    } else {
      real_.DropContext(tag, got_);
      twin_.DropContextsIf(same, want_);
    }
  }

  uint32_t threads_;
  uint32_t active_ = 1;
  TlbInclusion inclusion_;
  std::optional<std::set<Name>> dirty_before_;  // before an access
  uint64_t invalidated_before_ = 0;
  TlbHierarchy real_;
  ReferenceTlbHierarchy twin_;
  std::vector<TlbCounters> got_;
  std::vector<TlbCounters> want_;
  Rng rng_{11};
};

constexpr PageSizeSet k4K{PageSize::k4K};
constexpr PageSizeSet k2M{PageSize::k2M};
constexpr PageSizeSet k1G{PageSize::k1G};
constexpr PageSizeSet k4KAnd2M{PageSize::k4K, PageSize::k2M};
constexpr PageSizeSet kAll{PageSize::k4K, PageSize::k2M, PageSize::k1G};

// Skylake's arrays, an eighth as many sets.
TlbHierarchyConfig SmallSkylake() {
  using enum TlbReplacement;
  using enum TlbSide;
  TlbHierarchyConfig config;
  config.arrays = {
      Named("itlb_4k", 1, kInst, k4K, ArrayOf(16, 8, kTreePlru)),
      Named("itlb_2m", 1, kInst, k2M, ArrayOf(2, 2, kLru)),
      Named("dtlb_4k", 1, kData, k4K, ArrayOf(8, 4, kTreePlru)),
      Named("dtlb_2m", 1, kData, k2M, ArrayOf(4, 4, kTreePlru)),
      Named("dtlb_1g", 1, kData, k1G, ArrayOf(1, 1, kLru)),
      Named("stlb", 2, kUnified, k4KAnd2M, ArrayOf(24, 12, kMru3Plru4)),
      Named("stlb_1g", 2, kUnified, k1G, ArrayOf(4, 4, kLru))};
  config.arrays[0].smt = TlbSmt::kPartitioned;
  config.arrays[1].smt = TlbSmt::kReplicated;
  return config;
}

// Pieces on both levels.
TlbHierarchyConfig Fractured() {
  using enum TlbReplacement;
  using enum TlbSide;
  TlbHierarchyConfig config;
  config.arrays = {Named("itlb", 1, kInst, k4K, ArrayOf(8, 4, kLru)),
                   Named("dtlb", 1, kData, k4KAnd2M, ArrayOf(8, 8, kRandom)),
                   Named("stlb", 2, kUnified, k4K, ArrayOf(32, 4, kFifo))};
  config.arrays[2].fracture = true;
  return config;
}

// Two banks on the second level and on the data side; a second level for each
// side.
TlbHierarchyConfig Banked() {
  using enum TlbReplacement;
  using enum TlbSide;
  TlbHierarchyConfig config;
  config.arrays = {
      Named("itlb", 1, kInst, k4K, ArrayOf(8, 2, kLru)),
      Named("dtlb_a", 1, kData, k4KAnd2M, ArrayOf(4, 2, kLru)),
      Named("dtlb_b", 1, kData, k4KAnd2M, ArrayOf(8, 4, kTreePlru)),
      Named("stlb_i", 2, kInst, k4K, ArrayOf(16, 2, kLru)),
      Named("stlb_d0", 2, kData, kAll, ArrayOf(16, 4, kLru, TlbHash::kXor7)),
      Named("stlb_d1", 2, kData, kAll, ArrayOf(8, 2, kLru, TlbHash::kXor8))};
  return config;
}

TlbHierarchyConfig Unified() {
  using enum TlbReplacement;
  TlbHierarchyConfig config;
  config.arrays = {
      Named("utlb", 1, TlbSide::kUnified, kAll, ArrayOf(8, 8, kLru)),
      Named("stlb", 2, TlbSide::kUnified, kAll, ArrayOf(16, 4, kLru))};
  return config;
}

TlbHierarchyConfig OneLevel() {
  TlbHierarchyConfig config = Unified();
  config.arrays.pop_back();
  return config;
}

TlbHierarchyConfig With(TlbInclusion inclusion, TlbHierarchyConfig config) {
  config.inclusion = inclusion;
  return config;
}

TlbHierarchyConfig Shared(TlbSmt first_level, TlbSmt second_level,
                          TlbHierarchyConfig config) {
  for (TlbConfig& array : config.arrays) {
    array.smt = array.level == 1 ? first_level : second_level;
  }
  return config;
}

TlbHierarchyConfig FewPcids(TlbHierarchyConfig config) {
  for (TlbConfig& array : config.arrays) {
    array.pcid_slots = array.level == 1 ? 0 : 2;
  }
  return config;
}

std::vector<Case> Cases() {
  using enum TlbSmt;
  std::vector<Case> cases;
  struct Rule {
    const char* name;
    TlbInclusion inclusion;
  };
  for (const Rule& rule : {Rule{"None", TlbInclusion::kNone},
                           Rule{"Inclusive", TlbInclusion::kInclusive},
                           Rule{"Exclusive", TlbInclusion::kExclusive}}) {
    const auto add = [&](std::string name, TlbHierarchyConfig config,
                         uint32_t threads) {
      cases.push_back(
          {rule.name + name, With(rule.inclusion, std::move(config)), threads});
    };
    add("Skylake", SmallSkylake(), 2);
    add("Fractured", Fractured(), 1);
    add("FracturedReplicated", Shared(kReplicated, kCompetitive, Fractured()),
        2);
    add("Banked", Banked(), 1);
    add("Unified", Unified(), 2);
    add("UnifiedPartitioned", Shared(kPartitioned, kCompetitive, Unified()), 2);
    add("UnifiedAllReplicated", Shared(kReplicated, kReplicated, Unified()), 3);
    add("OneLevel", OneLevel(), 2);
    add("SecondPartitioned", Shared(kCompetitive, kPartitioned, SmallSkylake()),
        2);
    add("FirstReplicated", Shared(kReplicated, kCompetitive, SmallSkylake()),
        2);
    add("FewPcids", FewPcids(SmallSkylake()), 2);
  }
  return cases;
}

class TlbHierarchyDifferentialTest : public testing::TestWithParam<Case> {};

TEST_P(TlbHierarchyDifferentialTest, TwinsStayEqualUnderRandomOperations) {
  ASSERT_TRUE(Validate(GetParam().config, GetParam().threads).ok());
  Pair pair(GetParam());
  for (int step = 0; step < 3000; ++step) {
    pair.Step();
    if (HasFatalFailure()) FAIL() << "operation of step " << step;
    pair.ExpectEqual();
    if (HasFatalFailure()) FAIL() << "state after step " << step;
  }
  // The sequence reaches what it is about.
  TlbCounters sum;
  for (const TlbCounters& counters : pair.counters()) {
    EXPECT_GT(counters.hits, 0u);
    EXPECT_GT(counters.fills, 0u);
    sum += counters;
  }
  EXPECT_GT(sum.evictions, 100u);
  EXPECT_GT(sum.invalidated, 100u);
}

INSTANTIATE_TEST_SUITE_P(Rules, TlbHierarchyDifferentialTest,
                         testing::ValuesIn(Cases()), [](const auto& case_info) {
                           return case_info.param.name;
                         });

}  // namespace
}  // namespace lookaside
