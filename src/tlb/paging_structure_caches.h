// SPDX-License-Identifier: Apache-2.0
//
// The paging-structure caches of one core: PML5E, PML4E, PDPTE and PDE caches
// (Intel SDM volume 3, 4.10.3 "Paging-Structure Caches"). An entry is found by
// address-space tag and by the part of the address that selects it, holds the
// table that its paging-structure entry points to with the permissions of all
// levels above combined, and lets a walk skip those levels.
//
// Sizes differ by machine and are mostly unpublished; they are data
// (psc_config.h). Each cache is LRU. A walk uses the deepest hit alone, so
// only that entry becomes most recently used.
//
// Left out: entries for leafs (those are TLB entries), AMD's single cache for
// all levels, and which entries share ports. Threads of a core compete for
// all entries; tags keep them apart.
//
// Invariants: the free places of a set are its oldest; no key occurs twice.
// Equal contents in an equal order of use are equal states.
//
// Thread-compatible. A value: a copy shares nothing.
//
//   PagingStructureCaches psc(config);
//   if (PscHit hit = psc.Find(tag, page); hit.level != PagingLevel::kPte) {
//     // resume at hit.entry.table, which holds entries one level below
//   }
#ifndef LOOKASIDE_TLB_PAGING_STRUCTURE_CACHES_H_
#define LOOKASIDE_TLB_PAGING_STRUCTURE_CACHES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lookaside/base/address.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/recency.h"
#include "lookaside/base/tag_match.h"
#include "lookaside/tlb/context_table.h"
#include "lookaside/tlb/psc_config.h"

namespace lookaside {

// A level of the paging structures, named for its entries (SDM volume 3,
// 4.5); usable as an array index. One entry at a level covers 2^(9 * level)
// pages of 4 KiB.
enum class PagingLevel : uint8_t {
  kPte = 0,
  kPde = 1,
  kPdpte = 2,
  kPml4e = 3,
  kPml5e = 4,
};
inline constexpr int kPagingLevels = 5;

constexpr size_t Index(PagingLevel level) { return static_cast<size_t>(level); }

constexpr unsigned SpanOrder(PagingLevel level) {
  return 9u * static_cast<unsigned>(level);
}

// REQUIRES: level is not kPte.
constexpr PagingLevel Below(PagingLevel level) {
  return static_cast<PagingLevel>(static_cast<int>(level) - 1);
}

// Which of a table's 512 entries translates `page`.
constexpr unsigned EntryIndex(VirtPage page, PagingLevel level) {
  return static_cast<unsigned>(page.value() >> SpanOrder(level)) & 511u;
}

constexpr std::string_view Name(PagingLevel level) {
  constexpr std::string_view kNames[kPagingLevels] = {"pte", "pde", "pdpte",
                                                      "pml4e", "pml5e"};
  return kNames[static_cast<int>(level)];
}

// What a cached entry says: SDM volume 3, 4.10.3.1.
struct PscEntry {
  FrameNumber table;      // the next table
  bool writable = false;  // R/W of this entry and of all above it
  bool user = false;      // U/S, likewise
  bool nx = false;        // XD of this entry or of any above it

  friend bool operator==(const PscEntry&, const PscEntry&) = default;
};

// The same in one word, with everything where a paging-structure entry has it:
// R/W in bit 1, U/S in bit 2, the frame in bits 51..12, XD in bit 63. A walk
// takes and leaves it so (BM_UniformRandom).
using PscBits = uint64_t;

// Of PscBits: the page table has changed under the entry, which then names the
// change in the place of its tree (machine/stale_entries.h).
inline constexpr PscBits kPscStale = uint64_t{1} << 52;

constexpr PscBits BitsOf(const PscEntry& entry) {
  return entry.table.value() << kPageShift | uint64_t{entry.writable} << 1 |
         uint64_t{entry.user} << 2 | uint64_t{entry.nx} << 63;
}
constexpr PscEntry EntryOf(PscBits bits) {
  constexpr uint64_t kFrame = (uint64_t{1} << 52) - 1;
  return {FrameNumber((bits & kFrame) >> kPageShift), (bits >> 1 & 1) != 0,
          (bits >> 2 & 1) != 0, bits >> 63 != 0};
}

// The level of the entry found; kPte, which is never cached here, is a miss.
struct PscHit {
  PagingLevel level = PagingLevel::kPte;
  PscEntry entry;

  friend bool operator==(const PscHit&, const PscHit&) = default;
};

class PagingStructureCaches {
 public:
  // REQUIRES: Validate(config) is ok.
  explicit PagingStructureCaches(const PscConfig& config);

  // The deepest entry for `page`, made most recently used.
  PscHit Find(ContextTag tag, VirtPage page) {
    PscBits bits = 0;
    const PagingLevel level = FindBits(tag, page, bits);
    if (level == PagingLevel::kPte) return {};
    return {level, EntryOf(bits)};
  }
  // The same: its level, kPte for none, and what it says.
  PagingLevel FindBits(ContextTag tag, VirtPage page, PscBits& bits);
  // Whether there is an entry for `page` at `level`, which is then the most
  // recently used, and what it says. Find tries the levels from kPde up.
  bool FindAt(ContextTag tag, VirtPage page, PagingLevel level, PscBits& bits);
  // TlbEntry::source of the entry just found. REQUIRES: it is held.
  uint32_t SourceAt(ContextTag tag, VirtPage page, PagingLevel level) const;

  // Whether the machine has a cache of that level.
  bool has(PagingLevel level) const { return at(level).ways() != 0; }

  // Whether a cache of that level holds an entry for `page`; changes nothing.
  bool Contains(ContextTag tag, VirtPage page, PagingLevel level) const;

  // Enters (or replaces) the entry that translates `page` at `level`, as the
  // most recently used of its set; the least recently used one makes room.
  // Nothing happens where the machine has no such cache.
  // REQUIRES: `level` is not kPte; `entry` comes from a present entry that
  // points to a table and whose accessed bit is set.
  void Fill(ContextTag tag, VirtPage page, PagingLevel level,
            const PscEntry& entry);

  // The same for what Find, called just before, did not find: without search.
  // REQUIRES: also !Contains(tag, page, level).
  void FillAbsent(ContextTag tag, VirtPage page, PagingLevel level,
                  PscBits bits, uint32_t source = 0) {
    Array& array = at(level);
    if (array.ways() != 0) array.Insert(Key(tag, page, level), bits, source);
  }

  // INVLPG of `page`: PscConfig::invlpg_scope says what it drops of `tag`.
  // Returns how many entries, as do all that follow.
  size_t Invlpg(ContextTag tag, VirtPage page);
  // The entries for `page` at every level; what a page fault drops (SDM
  // volume 3, 4.10.4.1).
  size_t InvalidateAddress(ContextTag tag, VirtPage page);
  size_t InvalidateTag(ContextTag tag);
  // Every entry of the tags for which `drop` holds.
  size_t InvalidateIf(absl::FunctionRef<bool(ContextTag)> drop);
  size_t InvalidateAll();

  // Calls visit for every entry at `level` whose span meets the 2^order pages
  // from `first` on, whatever its tag; it may change kPscStale and the source.
  // `first` is aligned to that.
  using Visit =
      absl::FunctionRef<void(ContextTag tag, PscBits& bits, uint32_t& source)>;
  void ForEachWithin(VirtPage first, unsigned order, PagingLevel level,
                     Visit visit);

  // Entries held at `level`.
  size_t size(PagingLevel level) const;

  // Adds tags by what they name, since their numbers are history.
  void AddTo(Digest& digest, const ContextTable& contexts) const;

  friend bool operator==(const PagingStructureCaches&,
                         const PagingStructureCaches&) = default;

 private:
  // A key is the page's prefix above the tag's 16 bits; 0 is a free place.
  class Array {
   public:
    static constexpr size_t kMiss = ~size_t{0};

    Array() = default;
    Array(uint32_t size, uint32_t associativity);

    uint32_t ways() const { return ways_; }  // 0: no such cache
    size_t used() const;
    PscBits bits(size_t slot) const { return entries_[slot]; }
    uint32_t source(size_t slot) const { return sources_[slot]; }
    void ForEach(
        absl::FunctionRef<void(uint64_t key, PscBits& bits, uint32_t& source)>
            visit);

    // The slot that holds `key`, or kMiss.
    size_t Find(uint64_t key) const;
    // The most recently used slot of the key's set. REQUIRES: ways() != 0.
    size_t Youngest(uint64_t key) const {
      const uint32_t set = SetOf(key);
      return (size_t{set} << set_shift_) + recency_.Youngest(set);
    }
    bool Holds(size_t slot, uint64_t key) const { return keys_[slot] == key; }
    void Touch(size_t slot) {
      const auto set = static_cast<uint32_t>(slot >> set_shift_);
      if (!recency_.IsYoungest(set, WayOf(slot))) {
        recency_.Touch(set, WayOf(slot));
      }
    }
    // Overwrites the oldest. REQUIRES: `key` is not held.
    void Insert(uint64_t key, PscBits bits, uint32_t source);
    void Fill(uint64_t key, PscBits bits);
    bool Erase(uint64_t key);
    size_t EraseIf(absl::FunctionRef<bool(ContextTag)> drop);
    void AddTo(Digest& digest, const ContextTable& contexts) const;

    bool operator==(const Array& other) const;

   private:
    uint32_t SetOf(uint64_t key) const {
      return static_cast<uint32_t>(key >> kContextTagBits) & set_mask_;
    }
    uint32_t WayOf(size_t slot) const {
      return static_cast<uint32_t>(slot) & ((1u << set_shift_) - 1);
    }
    // The slots of `set`, most recently used first.
    std::vector<size_t> YoungestFirst(uint32_t set) const;
    void EraseSlot(size_t slot);

    uint32_t ways_ = 0;
    // Slots of a set are `1 << set_shift_` apart, so that a set comes from a
    // slot without a division; the places above `ways_` stay free.
    uint32_t set_shift_ = 0;
    uint32_t set_mask_ = 0;
    std::vector<uint32_t> tags_;  // by slot, set by set: TagOf(key), 0 if free
    std::vector<uint64_t> keys_;
    std::vector<PscBits> entries_;
    std::vector<uint32_t> sources_;  // TlbEntry::source
    Recency recency_;
  };

  // FindBits in the two topmost levels.
  PagingLevel FindAbove(ContextTag tag, VirtPage page, PscBits& bits);
  static uint64_t Key(ContextTag tag, VirtPage page, PagingLevel level) {
    return page.value() >> SpanOrder(level) << kContextTagBits | tag.value();
  }
  Array& at(PagingLevel level) { return arrays_[Index(level) - 1]; }
  const Array& at(PagingLevel level) const { return arrays_[Index(level) - 1]; }

  InvlpgScope invlpg_scope_;
  std::array<Array, kPagingLevels - 1> arrays_;  // PDE first
};

// ---------------------------------------------------------------------------
// Implementation of what every walk does.

[[gnu::always_inline]] inline size_t PagingStructureCaches::Array::Find(
    uint64_t key) const {
  if (ways_ == 0) return kMiss;
  const size_t first = size_t{SetOf(key)} << set_shift_;
  const uint32_t way = FindTagged<TagPadding::kNeverMatches>(
      &tags_[first], ways_, TagOf(key),
      [&](uint32_t i) { return keys_[first + i] == key; });
  return way == ways_ ? kMiss : first + way;
}

[[gnu::always_inline]] inline void PagingStructureCaches::Array::Insert(
    uint64_t key, PscBits bits, uint32_t source) {
  const uint32_t set = SetOf(key);
  const size_t slot = (size_t{set} << set_shift_) + recency_.TouchOldest(set);
  tags_[slot] = TagOf(key);
  keys_[slot] = key;
  entries_[slot] = bits;
  sources_[slot] = source;
}

[[gnu::always_inline]] inline bool PagingStructureCaches::FindAt(
    ContextTag tag, VirtPage page, PagingLevel level, PscBits& bits) {
  Array& array = at(level);
  if (array.ways() == 0) return false;
  const uint64_t key = Key(tag, page, level);
  // Random pages share their upper levels: one entry is used again and again
  // there (BM_UniformRandom).
  if (level != PagingLevel::kPde) {
    const size_t youngest = array.Youngest(key);
    if (array.Holds(youngest, key)) {
      bits = array.bits(youngest);
      return true;
    }
  }
  const size_t slot = array.Find(key);
  if (slot == Array::kMiss) return false;
  array.Touch(slot);
  bits = array.bits(slot);
  return true;
}

[[gnu::always_inline]] inline PagingLevel PagingStructureCaches::FindBits(
    ContextTag tag, VirtPage page, PscBits& bits) {
  if (FindAt(tag, page, PagingLevel::kPde, bits)) return PagingLevel::kPde;
  if (FindAt(tag, page, PagingLevel::kPdpte, bits)) return PagingLevel::kPdpte;
  PscBits above = 0;  // leaves `bits` in a register
  const PagingLevel level = FindAbove(tag, page, above);
  bits = above;
  return level;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_PAGING_STRUCTURE_CACHES_H_
