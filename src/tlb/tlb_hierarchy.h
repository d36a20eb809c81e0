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
//   inclusive  as none, but what the second level evicts leaves the first too
//   exclusive  a second-level hit moves the entry up; a walk fills the first
//              level only; what the first level evicts goes to the second
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
                     std::span<TlbCounters> counters);

  // Whether the first level of that side holds nothing but 4K entries.
  bool first_holds_only_4k(AccessSide side) const {
    for (const PageSize size : {PageSize::k2M, PageSize::k1G}) {
      const Banks& banks = level(1, side).banks[Index(size)];
      for (uint8_t i = 0; i < banks.count; ++i) {
        if (arrays_[banks.arrays[i]].HoldsSize(size)) return false;
      }
    }
    return true;
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

  const Level& level(int number, AccessSide side) const {
    return levels_[static_cast<size_t>(number - 1)][static_cast<size_t>(side)];
  }
  Level MakeLevel(uint32_t number, AccessSide side) const;
  uint8_t ArrayFor(const Level& level, VirtPage page, PageSize size) const;
  // Whether it is there; then `found` says where, but for the level.
  bool FindIn(const Level& level, const TlbContext& context, VirtPage page,
              Found& found) const;
  Found FillFirst(AccessSide side, VirtPage page, const TlbEntry& entry,
                  std::span<TlbCounters> counters);
  void FillSecond(AccessSide side, VirtPage page, const TlbEntry& entry,
                  std::span<TlbCounters> counters);
  // Returns the slot; tells what was evicted where the inclusion rules ask.
  uint32_t Insert(uint8_t array, const TlbEntry& entry,
                  std::optional<TlbEntry>& evicted,
                  std::span<TlbCounters> counters);
  void DropFromFirst(const TlbEntry& evicted, std::span<TlbCounters> counters);

  TlbInclusion inclusion_;
  std::vector<Tlb> arrays_;
  std::array<std::array<Level, 2>, 2> levels_;          // [level - 1][side]
  std::array<uint8_t, 2> only_first_4k_{kNone, kNone};  // by side
  bool unified_first_level_ = false;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_TLB_HIERARCHY_H_
