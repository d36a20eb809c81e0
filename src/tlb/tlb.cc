// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/tlb.h"

#include <algorithm>
#include <bit>

#include "lookaside/base/check.h"

namespace lookaside {

Tlb::Tlb(const TlbConfig& config, uint32_t threads, uint64_t seed)
    : config_(config),
      threads_(threads),
      seed_(seed),
      pcid_slots_(config.pcid_slots, threads,
                  config.smt != TlbSmt::kCompetitive) {
  LOOKASIDE_CHECK(config.entries > 0 && threads > 0);
  Divide(active_);
}

// Lays the array out for the threads of `mask`; it is then empty.
void Tlb::Divide(uint32_t mask) {
  active_ = mask;
  sets_ = config_.sets();
  ways_ = config_.ways;
  uint32_t shares = 1;
  if (config_.smt == TlbSmt::kReplicated) {
    shares = threads_;
  } else if (config_.smt == TlbSmt::kPartitioned) {
    shares = std::bit_ceil(static_cast<uint32_t>(std::popcount(mask)));
    if (shares <= sets_) {
      sets_ /= shares;
    } else {
      ways_ = ways_ * sets_ / shares;
      sets_ = 1;
    }
  }
  first_set_.assign(threads_, 0);
  for (uint32_t thread = 0, next = 0; thread < threads_; ++thread) {
    const bool has_share =
        config_.smt == TlbSmt::kReplicated || ((mask >> thread) & 1) != 0;
    if (shares > 1 && has_share) first_set_[thread] = next++ * sets_;
  }
  set_index_ = SetIndex(config_.hash, sets_);
  set_shift_ = static_cast<uint32_t>(std::countr_zero(std::bit_ceil(ways_)));
  capacity_ = shares * sets_ * ways_;
  const size_t slots = size_t{shares} * sets_ << set_shift_;
  slots_.assign(slots, Slot());
  tags_.assign(slots + kTagBlock, 0);
  held_ = 0;
  counts_ = {};
  fractured_ = 0;
  globals_ = 0;
  specials_ = 0;
  replacement_ = Replacement(config_.replacement, shares * sets_, ways_, seed_);
}

uint32_t Tlb::SetActiveThreads(uint32_t mask) {
  if (config_.smt != TlbSmt::kPartitioned || mask == 0 || mask == active_) {
    return 0;
  }
  const uint32_t dropped = size();
  Divide(mask);
  return dropped;
}

Tlb::Inserted Tlb::Insert(const TlbEntry& entry,
                          std::optional<TlbEntry>* evicted) {
  Inserted result;
  if ((entry.flags & kTlbGlobal) == 0) {
    result.dropped = OnLoadContext(entry.context, entry.thread);
  }
  const Slot filled{
      MakeTlbKey(entry.context, entry.page, entry.size), entry.frame,
      Attributes(entry.flags, entry.origin, entry.thread), entry.source};
  Slot displaced;
  result.slot =
      Put(FirstSlot(entry.thread, entry.page, entry.size), filled, displaced);
  result.displaced = displaced.key != kNoTlbKey;
  if (result.displaced && evicted != nullptr) *evicted = EntryOf(displaced);
  return result;
}

// The one that the trees point to if that is free, else the lowest. So a set
// fills in the order in which it will be replaced, and a sweep of more pages
// than ways never hits, from the first page on.
uint32_t Tlb::TakeFreeWay(uint32_t first_slot) {
  if (held_ == capacity_) return ways_;
  const uint32_t set = SetOf(first_slot);
  const uint32_t* const tags = &tags_[first_slot];
  uint32_t way = ways_;
  if (replacement_.uses_trees()) way = replacement_.Victim(set);
  if (way == ways_ || tags[way] != 0) {
    way = FindTagged(tags, ways_, 0, [](uint32_t) { return true; });
  }
  if (way != ways_) replacement_.OnFill(set, way);
  return way;
}

uint32_t Tlb::Put(uint32_t first_slot, const Slot& filled, Slot& displaced) {
  uint32_t way = TakeFreeWay(first_slot);
  if (way == ways_) way = replacement_.ReplaceVictim(SetOf(first_slot));
  const uint32_t slot = first_slot + way;
  displaced = slots_[slot];
  if (displaced.key != kNoTlbKey) Drop(slot);
  slots_[slot] = filled;
  tags_[slot] = TagOf(filled.key);
  ++held_;
  Count(filled, 1);
  return slot;
}

bool Tlb::InShareOf(uint32_t slot, ThreadSlot thread) const {
  return SetOf(slot) - first_set_[thread.value()] < sets_;
}

uint32_t Tlb::DropPage(const TlbContext& context, VirtPage page, bool globals) {
  uint32_t dropped = 0;
  for (PageSize size : kAllPageSizes) {
    if (!HoldsSize(size)) continue;
    const uint32_t first = FirstSlot(context.thread, page, size);
    for (ContextTag tag : {context.tag, context.global}) {
      if (tag == context.global && !globals) continue;
      const uint32_t slot = FindKey(first, MakeTlbKey(tag, page, size));
      if (slot == kMiss) continue;
      Drop(slot);
      ++dropped;
    }
  }
  if (fractured_ == 0) return dropped;
  return dropped + DropIf([&](uint32_t slot) {
           const TlbEntry entry = EntryAt(slot);
           return entry.origin != entry.size &&
                  (entry.context == context.tag ||
                   (globals && entry.context == context.global)) &&
                  InShareOf(slot, context.thread) &&
                  PageIndex(entry.page, entry.origin) ==
                      PageIndex(page, entry.origin);
         });
}

uint32_t Tlb::DropWithin(ContextTag context, VirtPage first, PageSize size) {
  if (size != PageSize::k4K || config_.smt != TlbSmt::kCompetitive) {
    return DropIf([&](uint32_t slot) {
      const TlbKey key = slots_[slot].key;
      return ContextOf(key) == context && SizeOf(key) <= size &&
             PageIndex(PageOfKey(key), size) == PageIndex(first, size);
    });
  }
  const uint32_t slot = FindKey(FirstSlot(ThreadSlot(0), first, size),
                                MakeTlbKey(context, first, size));
  if (slot == kMiss) return 0;
  Drop(slot);
  return 1;
}

uint32_t Tlb::DropContext(ContextTag context) {
  return DropContextsIf([context](ContextTag tag) { return tag == context; });
}

uint32_t Tlb::DropAll() {
  return DropIf([](uint32_t) { return true; });
}

uint32_t Tlb::TakePcidSlot(ContextTag context, ThreadSlot thread) {
  const std::optional<ContextTag> lost = pcid_slots_.Use(context, thread);
  return lost ? DropContext(*lost) : 0;
}

void Tlb::AddTo(Digest& digest, const ContextTable& contexts) const {
  if (config_.smt == TlbSmt::kPartitioned) digest.Add(active_);
  const auto sets = static_cast<uint32_t>(slots_.size()) >> set_shift_;
  digest.Add(size());
  for (uint32_t set = 0; set < sets; ++set) AddSetTo(digest, contexts, set);
  replacement_.AddGeneratorTo(digest);
  pcid_slots_.AddTo(digest, contexts);
}

void Tlb::AddSetTo(Digest& digest, const ContextTable& contexts,
                   uint32_t set) const {
  for (uint32_t way : replacement_.CanonicalOrder(set)) {
    const uint32_t slot = (set << set_shift_) + way;
    const bool valid = slots_[slot].key != kNoTlbKey;
    if (!valid && !replacement_.OrderIsPosition()) continue;
    digest.Add(valid);  // an entry of zeros is not a free way
    if (!valid) continue;
    const TlbEntry entry = EntryAt(slot);
    digest.Add(entry.page);
    digest.Add(entry.frame);
    digest.Add(entry.size);
    digest.Add(entry.origin);
    digest.Add(entry.flags);
    digest.Add(entry.thread);
    contexts.AddTo(digest, entry.context);
  }
  if (!replacement_.OrderIsPosition()) digest.Add(false);
  replacement_.AddTo(digest, set);
}

void Tlb::CheckInvariants() const {
  std::array<uint32_t, kPageSizes> counts{};
  uint32_t fractured = 0;
  uint32_t globals = 0;
  uint32_t specials = 0;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    const TlbKey key = slots_[slot].key;
    if (key == kNoTlbKey) continue;
    const PageSize size = SizeOf(key);
    ++counts[Index(size)];
    if (slots_[slot].origin() != size) ++fractured;
    if ((slots_[slot].flags() & kTlbGlobal) != 0) ++globals;
    if (IsSpecial(slots_[slot])) ++specials;
    LOOKASIDE_CHECK(WayOf(slot) < ways_);
    LOOKASIDE_CHECK(tags_[slot] == TagOf(key));
    const uint32_t first = slot - WayOf(slot);
    bool own_set = false;
    for (uint32_t thread = 0; thread < threads_; ++thread) {
      own_set |= FirstSlot(ThreadSlot(static_cast<uint8_t>(thread)),
                           PageOfKey(key), size) == first;
    }
    LOOKASIDE_CHECK(own_set);
    for (uint32_t other = slot + 1; other < first + ways_; ++other) {
      LOOKASIDE_CHECK(slots_[other].key != key);
    }
  }
  LOOKASIDE_CHECK(counts == counts_);
  LOOKASIDE_CHECK(counts[0] + counts[1] + counts[2] == held_);
  LOOKASIDE_CHECK(fractured == fractured_);
  LOOKASIDE_CHECK(globals == globals_);
  LOOKASIDE_CHECK(specials == specials_);
}

}  // namespace lookaside
