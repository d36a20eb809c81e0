// SPDX-License-Identifier: Apache-2.0
//
// One TLB array: sets and ways of cached translations, found by key, with a
// replacement policy, and a share for each hardware thread of the core.
//
// Models: geometry, set index, replacement, tags of PCID, VPID, global bit
// and hardware thread, page sizes mixed in one array, SMT capacity, PCID
// slots. Sources: SDM volume 3, 4.10; TLB;DR (USENIX Security 2022).
// Leaves out: coalesced entries, memory types, ports and bandwidth.
//
// Hardware threads and capacity (`smt`):
//   competitive  one array; tags keep the threads' entries apart
//   partitioned  the sets (or, when there are too few, the ways) are divided
//                evenly among the threads that are active; a change of who is
//                active empties the array
//   replicated   each thread has the whole geometry to itself
//
// Invariants:
//   1. No two valid entries of one thread's share have the same key.
//   2. An entry sits in the set that its key's page number selects.
//   3. counts by size and of fractured and global entries equal the array's.
// Not thread-safe. A copyable value.
//
//   Tlb tlb(config, /*threads=*/2, seed);
//   uint32_t slot = tlb.Find(context, page, PageSize::k4K);
//   if (slot != Tlb::kMiss) tlb.OnHit(slot);
#ifndef LOOKASIDE_TLB_TLB_H_
#define LOOKASIDE_TLB_TLB_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lookaside/base/digest.h"
#include "lookaside/base/tag_match.h"
#include "lookaside/tlb/pcid_slots.h"
#include "lookaside/tlb/replacement.h"
#include "lookaside/tlb/set_index.h"
#include "lookaside/tlb/tlb_config.h"
#include "lookaside/tlb/tlb_counters.h"
#include "lookaside/tlb/tlb_entry.h"

namespace lookaside {

class Tlb {
 public:
  static constexpr uint32_t kMiss = ~uint32_t{0};

  // What a slot holds; `key` is kNoTlbKey where it is empty. The attributes
  // are one word: stored byte by byte and moved as a whole they would wait for
  // each other.
  struct Slot {
    TlbKey key = kNoTlbKey;
    FrameNumber frame;
    uint32_t attributes = 0;  // flags, origin << 8, thread << 16
    uint32_t source = 0;      // TlbEntry::source

    uint8_t flags() const { return static_cast<uint8_t>(attributes); }
    PageSize origin() const {
      return static_cast<PageSize>(static_cast<uint8_t>(attributes >> 8));
    }
    ThreadSlot thread() const {
      return ThreadSlot(static_cast<uint8_t>(attributes >> 16));
    }
  };
  static constexpr uint32_t Attributes(uint8_t flags, PageSize origin,
                                       ThreadSlot thread) {
    return flags | static_cast<uint32_t>(origin) << 8 |
           static_cast<uint32_t>(thread.value()) << 16;
  }

  // REQUIRES: `config` is valid and `config.entries` > 0.
  Tlb(const TlbConfig& config, uint32_t threads, uint64_t seed);

  const TlbConfig& config() const { return config_; }

  // The slot of the entry of exactly `size` that translates `page` for
  // `context`, its own or a global one; kMiss if there is none. Changes
  // nothing.
  uint32_t Find(const TlbContext& context, VirtPage page, PageSize size) const {
    const uint32_t first = FirstSlot(context.thread, page, size);
    const uint32_t slot = FindKey(first, MakeTlbKey(context.tag, page, size));
    if (slot != kMiss || globals_ == 0) return slot;
    return FindKey(first, MakeTlbKey(context.global, page, size));
  }

  // A 4K page of a context's own, as any array is asked for it: what lookup and
  // fill of a miss, in every level, would else work out again
  // (BM_UniformRandom).
  class Page {
   public:
    Page() = default;
    Page(ContextTag context, VirtPage page)
        : key_(MakeTlbKey(context, page, PageSize::k4K)), tag_(TagOf(key_)) {}

   private:
    friend class Tlb;
    TlbKey key_ = kNoTlbKey;
    uint32_t tag_ = 0;
  };
  // The first slot of the set that such a page belongs in.
  uint32_t SetFor(const TlbContext& context, VirtPage page) const {
    return FirstSlot(context.thread, page, PageSize::k4K);
  }
  // Find in that set, but for global entries.
  uint32_t FindOwn(uint32_t first_slot, const Page& page) const {
    return FindKey(first_slot, page.key_, page.tag_);
  }
  bool holds_globals() const { return globals_ != 0; }

  // Whether any entry of this size is held: a cheap reason not to look.
  bool HoldsSize(PageSize size) const { return counts_[Index(size)] != 0; }
  uint32_t size() const { return held_; }

  // Slots are numbered from 0 to this, some always empty.
  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }

  // The rest take slots that Find or Insert returned, unchanged since.
  void OnHit(uint32_t slot) { replacement_.OnHit(SetOf(slot), WayOf(slot)); }
  uint8_t flags(uint32_t slot) const { return slots_[slot].flags(); }
  void SetDirty(uint32_t slot) { slots_[slot].attributes |= kTlbDirty; }
  // Also of an empty slot, whose context is then 0.
  TlbEntry EntryAt(uint32_t slot) const { return EntryOf(slots_[slot]); }
  void Drop(uint32_t slot);
  uint32_t source(uint32_t slot) const { return slots_[slot].source; }
  // `source` is then a change, or a tree again.
  void SetStale(uint32_t slot, bool stale, uint32_t source) {
    uint32_t& attributes = slots_[slot].attributes;
    attributes =
        stale ? attributes | kTlbStale : attributes & ~uint32_t{kTlbStale};
    slots_[slot].source = source;
  }
  // Calls visit(slot) for every entry that translates any of the 2^order
  // pages from `first` on, whatever its context. `first` is aligned to that.
  template <typename Visit>
  void ForEachWithin(VirtPage first, unsigned order, Visit visit) const;

  struct Inserted {
    uint32_t slot = kMiss;
    uint32_t dropped = 0;    // entries of a context that lost its PCID slot
    bool displaced = false;  // an entry gave place
  };
  // That entry is left in `evicted`, where that is given.
  // REQUIRES: no entry with this key is held in its thread's share.
  Inserted Insert(const TlbEntry& entry,
                  std::optional<TlbEntry>* evicted = nullptr);

  // Whether the array has room for an entry that its thread is not filling now:
  // a share for the thread, which may be halted, and a PCID slot.
  bool HasRoomFor(const TlbEntry& entry) const {
    const bool shared = config_.smt != TlbSmt::kPartitioned ||
                        ((active_ >> entry.thread.value()) & 1) != 0;
    return shared && ((entry.flags & kTlbGlobal) != 0 ||
                      pcid_slots_.Has(entry.context, entry.thread));
  }

  // What a walk found of such a page.
  struct Filling {
    FrameNumber frame;
    uint8_t flags = 0;  // not kTlbGlobal
    uint32_t source = 0;
  };
  // Insert of a whole 4K page into its set; says less of what happened, in
  // `counter`, where it also counts.
  uint32_t InsertPage(const TlbContext& context, uint32_t first_slot,
                      const Page& page, const Filling& filling,
                      TlbCounters& counter);

  // Each returns how many entries it dropped.
  //
  // Entries of any size, fractures included, that translate `page` for
  // `context` in its thread's share; global ones only when `globals` is set.
  uint32_t DropPage(const TlbContext& context, VirtPage page, bool globals);
  // Entries of `context` within the page of `size` that begins at `first`, in
  // every share.
  uint32_t DropWithin(ContextTag context, VirtPage first, PageSize size);
  uint32_t DropContext(ContextTag context);
  uint32_t DropAll();
  // Entries whose context tag `drop` says yes to.
  template <typename Predicate>
  uint32_t DropContextsIf(Predicate drop) {
    return DropIf(
        [&](uint32_t slot) { return drop(ContextOf(slots_[slot].key)); });
  }

  // MOV to CR3: takes a PCID slot, where the array has a limit of them.
  uint32_t OnLoadContext(ContextTag context, ThreadSlot thread) {
    return MustTakePcidSlot(context) ? TakePcidSlot(context, thread) : 0;
  }

  // Which hardware threads run something, as a bit mask: re-divides a
  // partitioned array, and empties it when the division changes.
  uint32_t SetActiveThreads(uint32_t mask);

  void AddTo(Digest& digest, const ContextTable& contexts) const;

  // CHECKs the invariants above. Expensive.
  void CheckInvariants() const;

 private:
  static TlbEntry EntryOf(const Slot& slot) {
    return {PageOfKey(slot.key), slot.frame,    ContextOf(slot.key),
            SizeOf(slot.key),    slot.origin(), slot.flags(),
            slot.thread(),       slot.source};
  }
  // A piece, or not 4K, or global: what the counters of invariant 3 are about.
  static bool IsSpecial(const Slot& slot) {
    return SizeOf(slot.key) != PageSize::k4K ||
           slot.origin() != PageSize::k4K || (slot.flags() & kTlbGlobal) != 0;
  }
  // Adds `entries` (1 or -1) to those counters.
  void Count(const Slot& slot, uint32_t entries) {
    counts_[Index(SizeOf(slot.key))] += entries;
    if (slot.origin() != SizeOf(slot.key)) fractured_ += entries;
    if ((slot.flags() & kTlbGlobal) != 0) globals_ += entries;
    if (IsSpecial(slot)) specials_ += entries;
  }
  // Puts `filled` into the set at `first_slot`; `displaced` is set to what
  // gave place, if anything did. Returns the slot.
  uint32_t Put(uint32_t first_slot, const Slot& filled, Slot& displaced);
  // A free way of the set that a fill takes, touched, or ways_.
  uint32_t TakeFreeWay(uint32_t first_slot);
  bool MustTakePcidSlot(ContextTag context) const {
    return pcid_slots_.limited() && !pcid_slots_.UsedLast(context);
  }
  uint32_t TakePcidSlot(ContextTag context, ThreadSlot thread);
  void Divide(uint32_t mask);
  // Slots of a set are `1 << set_shift_` apart, so that set and way come from
  // a slot without a division; the places above `ways_` stay empty.
  uint32_t SetOf(uint32_t slot) const { return slot >> set_shift_; }
  uint32_t WayOf(uint32_t slot) const {
    return slot & ((1u << set_shift_) - 1);
  }
  uint32_t FirstSlot(ThreadSlot thread, VirtPage page, PageSize size) const {
    return (first_set_[thread.value()] + set_index_(PageIndex(page, size)))
           << set_shift_;
  }
  uint32_t FindKey(uint32_t first_slot, TlbKey key) const {
    return FindKey(first_slot, key, TagOf(key));
  }
  uint32_t FindKey(uint32_t first_slot, TlbKey key, uint32_t tag) const;
  bool InShareOf(uint32_t slot, ThreadSlot thread) const;
  void AddSetTo(Digest& digest, const ContextTable& contexts,
                uint32_t set) const;
  template <typename Predicate>
  uint32_t DropIf(Predicate drop);

  TlbConfig config_;
  uint32_t threads_;
  uint64_t seed_;
  uint32_t active_ = 1;
  uint32_t sets_ = 0;  // of one thread's share, like the ways
  uint32_t ways_ = 0;
  std::vector<uint32_t> first_set_;  // of each thread's share
  uint32_t set_shift_ = 0;
  uint32_t capacity_ = 0;  // entries of all shares
  SetIndex set_index_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> tags_;  // by slot: TagOf(key), 0 if empty
  uint32_t held_ = 0;           // entries
  std::array<uint32_t, kPageSizes> counts_{};
  uint32_t fractured_ = 0;
  uint32_t globals_ = 0;
  uint32_t specials_ = 0;  // IsSpecial: where there are none, fills need not
                           // count what they displace
  Replacement replacement_;
  PcidSlots pcid_slots_;
};

// Tags first: a set's keys span more lines than they do, and need more
// comparisons (BM_TlbLookup in bench/tlb_benchmark.cc).
[[gnu::always_inline]] inline uint32_t Tlb::FindKey(uint32_t first_slot,
                                                    TlbKey key,
                                                    uint32_t tag) const {
  const uint32_t way = FindTagged<TagPadding::kNeverMatches>(
      &tags_[first_slot], ways_, tag,
      [&](uint32_t i) { return slots_[first_slot + i].key == key; });
  return way == ways_ ? kMiss : first_slot + way;
}

inline void Tlb::Drop(uint32_t slot) {
  --held_;
  Count(slots_[slot], ~uint32_t{0});
  slots_[slot] = Slot();
  tags_[slot] = 0;
}

// Inlined, since a miss does it twice (BM_UniformRandom).
[[gnu::always_inline]] inline uint32_t Tlb::InsertPage(
    const TlbContext& context, uint32_t first_slot, const Page& page,
    const Filling& filling, TlbCounters& counter) {
  if (MustTakePcidSlot(context.tag)) [[unlikely]] {
    counter.invalidated += TakePcidSlot(context.tag, context.thread);
  }
  ++counter.fills;
  const uint32_t attributes =
      Attributes(filling.flags, PageSize::k4K, context.thread);
  // A full array has no free way to look for; BM_TlbFill takes a fifth less.
  if (held_ != capacity_ || specials_ != 0) [[unlikely]] {
    Slot displaced;
    const uint32_t slot =
        Put(first_slot, {page.key_, filling.frame, attributes, filling.source},
            displaced);
    counter.evictions += displaced.key != kNoTlbKey;
    return slot;
  }
  ++counter.evictions;
  const uint32_t slot =
      first_slot + replacement_.ReplaceVictim(SetOf(first_slot));
  slots_[slot] = {page.key_, filling.frame, attributes, filling.source};
  tags_[slot] = page.tag_;
  return slot;
}

template <typename Visit>
void Tlb::ForEachWithin(VirtPage first, unsigned order, Visit visit) const {
  if (held_ == 0) return;
  if (order > 0) {
    for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
      const TlbKey key = slots_[slot].key;
      if (key == kNoTlbKey) continue;
      const unsigned shared = std::max(order, PageOrder(SizeOf(key)));
      if (((PageOfKey(key).value() ^ first.value()) >> shared) == 0)
        visit(slot);
    }
    return;
  }
  for (PageSize size : kAllPageSizes) {
    if (!HoldsSize(size)) continue;
    for (uint32_t thread = 0; thread < threads_; ++thread) {
      // Threads whose share is the same have it once.
      if (thread > 0 && first_set_[thread] == first_set_[0]) continue;
      const uint32_t set =
          FirstSlot(ThreadSlot(static_cast<uint8_t>(thread)), first, size);
      for (uint32_t slot = set; slot < set + ways_; ++slot) {
        const TlbKey key = slots_[slot].key;
        if (key != kNoTlbKey && SizeOf(key) == size &&
            PageOfKey(key) == AlignDown(first, size)) {
          visit(slot);
        }
      }
    }
  }
}

template <typename Predicate>
uint32_t Tlb::DropIf(Predicate drop) {
  if (size() == 0) return 0;
  uint32_t dropped = 0;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].key == kNoTlbKey || !drop(slot)) continue;
    Drop(slot);
    ++dropped;
  }
  return dropped;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_TLB_H_
