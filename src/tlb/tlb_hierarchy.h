// SPDX-License-Identifier: Apache-2.0
//
// All TLB arrays of a core, and the rules by which a translation moves among
// them. Shared by the core's hardware threads.
//
// A lookup asks the first level of its side (the arrays of all page sizes at
// once), then the second. Rules by `tlb.inclusion`:
//   none       a first-level hit leaves the second level untouched; a
//              second-level hit fills the first; a walk fills both; what the
//              first level evicts is gone (TLB;DR, findings 1 to 9)
//   inclusive  as none, but what leaves the second level, in whatever way,
//              leaves the first too; an entry of a size that the second level
//              does not hold, or only in smaller pieces, is not bound
//   exclusive  a second-level hit moves the entry up; a walk fills the first
//              level only; what the first level evicts goes to the second. A
//              large page of which the first level takes a piece stays below.
//              What belongs to a halted thread or to a PCID without a slot,
//              which has no room below, is gone.
//              Where the second level has a copy from the other side, the one
//              that knows more (not stale, dirty, writable) is kept.
//
// Several arrays of one level and side that list the same page size are its
// banks: the page-number bits just above the set index choose one (Ice Lake's
// two-bank STLB; which bit hardware uses is not published).
// A size that no first-level array of a side lists is held in pieces of the
// largest smaller size listed; on the second level only arrays that say
// `fracture` do so, and elsewhere the page is not held.
//
// Counting: Lookup and Fill change no hit or miss counter; the caller says
// with CountHit or CountMiss how the access ended, since an access that
// faults is counted once, when it completes. Fills, evictions and flushes are
// counted where they happen. Counter spans are indexed as config().arrays.
//
// Not thread-safe. A copyable value.
#ifndef LOOKASIDE_TLB_TLB_HIERARCHY_H_
#define LOOKASIDE_TLB_TLB_HIERARCHY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lookaside/base/digest.h"
#include "lookaside/tlb/tlb.h"
#include "lookaside/tlb/tlb_counters.h"

namespace lookaside {

// The two sides of a first level.
enum class AccessSide : uint8_t { kInst = 0, kData = 1 };

class TlbHierarchy {
 public:
  // REQUIRES: Validate(config, threads) is OK.
  TlbHierarchy(const TlbHierarchyConfig& config, uint32_t threads,
               uint64_t seed);

  const std::vector<Tlb>& arrays() const { return arrays_; }
  uint32_t latency(uint8_t array) const {
    return arrays_[array].config().latency;
  }

  // Where a translation is now. After a hit or a fill it is in the first
  // level, in `slot` of `array`.
  struct Found {
    uint8_t level = 0;  // that held it: 1, 2, or 0 for none
    uint8_t array = 0;
    uint8_t flags = 0;              // TlbFlag
    uint8_t second_array = 0;       // level 2: the array that held it
    PageSize size = PageSize::k4K;  // of the entry that was hit
    uint32_t slot = 0;
  };
  Found Lookup(AccessSide side, const TlbContext& context, VirtPage page,
               std::span<TlbCounters> counters);

  // Lookup for one whose first level is known to have missed.
  Found LookupSecond(AccessSide side, const TlbContext& context, VirtPage page,
                     std::span<TlbCounters> counters) {
    if (had_large_) return LookupSecondAny(side, context, page, counters);
    const Banks& banks = level(2, side).banks[Index(PageSize::k4K)];
    if (banks.empty()) return {};
    const uint8_t array = banks.Of(PageIndex(page, PageSize::k4K));
    const uint32_t slot = arrays_[array].Find(context, page, PageSize::k4K);
    if (slot == Tlb::kMiss) return {};
    return MoveUp(side, context, page, array, slot, counters);
  }

  // Whether an entry of more than 4K was ever inserted.
  bool had_large() const { return had_large_; }

  // Whether the first level of that side holds nothing but 4K entries.
  bool first_holds_only_4k(AccessSide side) const {
    return !had_large_ || !HoldsLarge(level(1, side));
  }

  // The only first-level array that holds 4K entries of that side, or kNone
  // where there are several or where it serves both sides. The hot path looks
  // there itself (Tlb::Find, Tlb::OnHit) before it calls Lookup.
  static constexpr uint8_t kNone = 0xff;
  uint8_t only_first_4k(AccessSide side) const {
    return only_first_4k_[static_cast<size_t>(side)];
  }
  Tlb& array(uint8_t number) { return arrays_[number]; }

  // Installs what a walk for `page` found; `walked.size` is the page's.
  // REQUIRES: Lookup finds nothing for that side, page and context.
  Found Fill(AccessSide side, VirtPage page, const TlbEntry& walked,
             std::span<TlbCounters> counters);

  // CountMiss and Fill after the walk of a 4K page that is not global, where
  // has_plain_fill(side).
  bool has_plain_fill(AccessSide side) const {
    return plain_[static_cast<size_t>(side)].first != kNone;
  }
  Found FillPlain(AccessSide side, const TlbContext& context, VirtPage page,
                  const Tlb::Filling& filling,
                  std::span<TlbCounters> counters) {
    return PlainArraysOf(side, counters).Fill(context, page, filling);
  }

  // A 4K page of a context's own, and the first slot of its set in the array of
  // either level.
  struct PlainPlaces {
    Tlb::Page page;
    uint32_t first;
    uint32_t second;
  };
  // The arrays where has_plain_fill, one of each level, for the path of a miss
  // from lookup to fill (BM_UniformRandom). Refers to the hierarchy and the
  // counters, which may not move meanwhile.
  class PlainArrays {
   public:
    PlainArrays() = default;  // of no side
    explicit operator bool() const { return first_ != nullptr; }

    // Whether Lookup finds nothing for a page that only_first_4k(side) does
    // not hold, so far as one search can tell. Sets places.second.
    bool Misses(const TlbContext& context, VirtPage page,
                PlainPlaces& places) const;
    // FillPlain.
    Found Fill(const TlbContext& context, VirtPage page,
               const Tlb::Filling& filling) const;
    // The same after Misses.
    Found Fill(const TlbContext& context, const PlainPlaces& places,
               const Tlb::Filling& filling) const;

   private:
    friend class TlbHierarchy;
    const bool* had_large_ = nullptr;
    Tlb* first_ = nullptr;
    Tlb* second_ = nullptr;  // nullptr: holds no 4K pages
    TlbCounters* of_first_ = nullptr;
    TlbCounters* of_second_ = nullptr;
    uint8_t first_number_ = kNone;
  };
  // REQUIRES: has_plain_fill(side).
  PlainArrays PlainArraysOf(AccessSide side, std::span<TlbCounters> counters);

  // One lookup of each level asked, that ended in the hit `found` or in a
  // walk that found a page of `size`.
  void CountHit(AccessSide side, VirtPage page, const Found& found,
                std::span<TlbCounters> counters) const;
  void CountMiss(AccessSide side, VirtPage page, PageSize size,
                 std::span<TlbCounters> counters) const;

  // Sets the dirty flag of every data-side copy of the translation.
  void SetDirty(const TlbContext& context, VirtPage page);

  // Flushes; each counts `invalidated` of the arrays it empties.
  void DropPage(const TlbContext& context, VirtPage page, bool globals,
                std::span<TlbCounters> counters);
  void DropContext(ContextTag context, std::span<TlbCounters> counters);
  template <typename Predicate>
  void DropContextsIf(Predicate drop, std::span<TlbCounters> counters) {
    for (size_t i = 0; i < arrays_.size(); ++i) {
      counters[i].invalidated += arrays_[i].DropContextsIf(drop);
    }
  }

  void OnLoadContext(const TlbContext& context,
                     std::span<TlbCounters> counters);
  void SetActiveThreads(uint32_t mask, std::span<TlbCounters> counters);

  // Whether a first-level array serves both sides, which makes the order of
  // fetches and data accesses matter to it (and folding inexact).
  bool has_unified_first_level() const { return unified_first_level_; }

  // Whether a fill may drop entries from either side's first level.
  bool is_inclusive() const { return inclusion_ == TlbInclusion::kInclusive; }

  void AddTo(Digest& digest, const ContextTable& contexts) const;
  void CheckInvariants() const;

 private:
  // The arrays of one level and side that hold entries of one size.
  struct Banks {
    uint8_t count = 0;  // a power of two, or 0
    uint8_t shift = 0;  // page-number bit that chooses among them
    std::array<uint8_t, kMaxTlbBanks> arrays{};

    bool empty() const { return count == 0; }
    uint8_t Of(uint64_t page_index) const {
      return arrays[(page_index >> shift) & (count - 1u)];
    }
  };
  // A level as one side sees it.
  struct Level {
    std::array<Banks, kPageSizes> banks;
    // The entry size in which a page of each size is held; nothing: it is not.
    std::array<std::optional<PageSize>, kPageSizes> held_as;
  };
  // Where a 4K page of one side goes when no more need be asked: one array of
  // each level (kNone: the second holds none) and inclusion none. `first` is
  // kNone where that is not so. For BM_UniformRandom.
  struct Plain {
    uint8_t first = kNone;
    uint8_t second = kNone;
  };

  const Level& level(int number, AccessSide side) const {
    return levels_[static_cast<size_t>(number - 1)][static_cast<size_t>(side)];
  }
  Level MakeLevel(uint32_t number, AccessSide side) const;
  Plain MakePlain(AccessSide side) const;
  bool HoldsLarge(const Level& level) const;
  uint8_t ArrayFor(const Level& level, VirtPage page, PageSize size) const;
  // Whether it is there; then `found` says where, but for the level.
  bool FindIn(const Level& level, const TlbContext& context, VirtPage page,
              Found& found) const {
    return FindSize(level, context, page, PageSize::k4K, found) ||
           (had_large_ &&
            (FindSize(level, context, page, PageSize::k2M, found) ||
             FindSize(level, context, page, PageSize::k1G, found)));
  }
  bool FindSize(const Level& level, const TlbContext& context, VirtPage page,
                PageSize size, Found& found) const;
  Found LookupSecondAny(AccessSide side, const TlbContext& context,
                        VirtPage page, std::span<TlbCounters> counters);
  // After a hit in `slot` of `array` of the second level: takes it to the
  // first.
  Found MoveUp(AccessSide side, const TlbContext& context, VirtPage page,
               uint8_t array, uint32_t slot, std::span<TlbCounters> counters);
  Found FillFirst(AccessSide side, VirtPage page, const TlbEntry& entry,
                  std::span<TlbCounters> counters);
  void FillSecond(AccessSide side, VirtPage page, const TlbEntry& entry,
                  std::span<TlbCounters> counters);
  // Returns the slot; what was evicted is left in `evicted`, if given.
  uint32_t Insert(uint8_t array, const TlbEntry& entry,
                  std::span<TlbCounters> counters,
                  std::optional<TlbEntry>* evicted = nullptr);
  void DropFromFirst(const TlbEntry& evicted, std::span<TlbCounters> counters);
  // After `dropped` entries left `array` other than by eviction.
  void AfterDrop(size_t array, uint32_t dropped,
                 std::span<TlbCounters> counters);
  void RestoreInclusion(std::span<TlbCounters> counters);
  bool IsIncluded(const Tlb& first, const TlbEntry& entry) const;
  // Exclusion: takes what the first level has evicted.
  void TakeVictim(AccessSide side, const TlbEntry& victim,
                  std::span<TlbCounters> counters);
  // Whether the second level holds the large page that `victim` is a piece of.
  bool WholeTakes(const Level& second, const TlbEntry& victim);

  TlbInclusion inclusion_;
  std::vector<Tlb> arrays_;
  std::array<std::array<Level, 2>, 2> levels_;          // [level - 1][side]
  std::array<uint8_t, 2> only_first_4k_{kNone, kNone};  // by side
  std::array<Plain, 2> plain_;                          // by side
  bool unified_first_level_ = false;
  bool had_large_ = false;
};

// ---------------------------------------------------------------------------
// Implementation of what every miss does (BM_UniformRandom).

inline TlbHierarchy::PlainArrays TlbHierarchy::PlainArraysOf(
    AccessSide side, std::span<TlbCounters> counters) {
  const Plain plain = plain_[static_cast<size_t>(side)];
  PlainArrays arrays;
  arrays.had_large_ = &had_large_;
  arrays.first_ = &arrays_[plain.first];
  arrays.of_first_ = &counters[plain.first];
  arrays.first_number_ = plain.first;
  if (plain.second != kNone) {
    arrays.second_ = &arrays_[plain.second];
    arrays.of_second_ = &counters[plain.second];
  }
  return arrays;
}

[[gnu::always_inline]] inline bool TlbHierarchy::PlainArrays::Misses(
    const TlbContext& context, VirtPage page, PlainPlaces& places) const {
  if (*had_large_) return false;
  if (second_ == nullptr) return true;
  places.second = second_->SetFor(context, page);
  return !second_->holds_globals() &&
         second_->FindOwn(places.second, places.page) == Tlb::kMiss;
}

[[gnu::always_inline]] inline TlbHierarchy::Found
TlbHierarchy::PlainArrays::Fill(const TlbContext& context,
                                const PlainPlaces& places,
                                const Tlb::Filling& filling) const {
  if (second_ != nullptr) {
    ++of_second_->misses;
    second_->InsertPage(context, places.second, places.page, filling,
                        *of_second_);
  }
  ++of_first_->misses;
  const uint32_t slot = first_->InsertPage(context, places.first, places.page,
                                           filling, *of_first_);
  return {.array = first_number_, .flags = filling.flags, .slot = slot};
}

[[gnu::always_inline]] inline TlbHierarchy::Found
TlbHierarchy::PlainArrays::Fill(const TlbContext& context, VirtPage page,
                                const Tlb::Filling& filling) const {
  PlainPlaces places{Tlb::Page(context.tag, page),
                     first_->SetFor(context, page), 0};
  if (second_ != nullptr) places.second = second_->SetFor(context, page);
  return Fill(context, places, filling);
}

[[gnu::always_inline]] inline bool TlbHierarchy::FindSize(
    const Level& level, const TlbContext& context, VirtPage page, PageSize size,
    Found& found) const {
  const Banks& banks = level.banks[Index(size)];
  if (banks.empty()) return false;
  const uint8_t array = banks.Of(PageIndex(page, size));
  const Tlb& tlb = arrays_[array];
  if (!tlb.HoldsSize(size)) return false;
  const uint32_t slot = tlb.Find(context, page, size);
  if (slot == Tlb::kMiss) return false;
  found.array = array;
  found.flags = tlb.flags(slot);
  found.size = size;
  found.slot = slot;
  return true;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_TLB_HIERARCHY_H_
