// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/tlb_hierarchy.h"

#include <bit>

namespace lookaside {
namespace {

constexpr AccessSide kSides[] = {AccessSide::kInst, AccessSide::kData};

bool Serves(const TlbConfig& config, AccessSide side) {
  return config.side == TlbSide::kUnified ||
         (config.side == TlbSide::kInst) == (side == AccessSide::kInst);
}

// How much a copy of a translation knows of it: a clean one that the other
// side evicts must not displace the one in which the dirty bit is known.
int Knowledge(uint8_t flags) {
  return ((flags & kTlbStale) != 0 ? 0 : 4) +
         ((flags & kTlbDirty) != 0 ? 2 : 0) +
         ((flags & kTlbWritable) != 0 ? 1 : 0);
}

}  // namespace

TlbHierarchy::TlbHierarchy(const TlbHierarchyConfig& config, uint32_t threads,
                           uint64_t seed)
    : inclusion_(config.inclusion) {
  for (const TlbConfig& array : config.arrays) {
    arrays_.emplace_back(array, threads, seed + arrays_.size());
    if (array.level == 1 && array.side == TlbSide::kUnified) {
      unified_first_level_ = true;
    }
  }
  for (AccessSide side : kSides) {
    for (uint32_t number : {1u, 2u}) {
      levels_[number - 1][static_cast<size_t>(side)] = MakeLevel(number, side);
    }
    const Banks& banks = level(1, side).banks[Index(PageSize::k4K)];
    if (banks.count == 1 && !unified_first_level_) {
      only_first_4k_[static_cast<size_t>(side)] = banks.arrays[0];
    }
    plain_[static_cast<size_t>(side)] = MakePlain(side);
  }
}

TlbHierarchy::Level TlbHierarchy::MakeLevel(uint32_t number,
                                            AccessSide side) const {
  Level level;
  std::optional<PageSize> fracture_to[kPageSizes];
  for (size_t i = 0; i < arrays_.size(); ++i) {
    const TlbConfig& config = arrays_[i].config();
    if (config.level != number || !Serves(config, side)) continue;
    for (PageSize size : kAllPageSizes) {
      if (!config.pages.Has(size)) continue;
      Banks& banks = level.banks[Index(size)];
      banks.arrays[banks.count++] = static_cast<uint8_t>(i);
      banks.shift = static_cast<uint8_t>(std::countr_zero(config.sets()));
      if (number == 1 || config.fracture) fracture_to[Index(size)] = size;
    }
  }
  std::optional<PageSize> smaller;  // the largest that pieces may have
  for (PageSize size : kAllPageSizes) {
    level.held_as[Index(size)] =
        level.banks[Index(size)].empty() ? smaller : size;
    if (fracture_to[Index(size)]) smaller = fracture_to[Index(size)];
  }
  return level;
}

uint8_t TlbHierarchy::ArrayFor(const Level& level, VirtPage page,
                               PageSize size) const {
  const std::optional<PageSize> held = level.held_as[Index(size)];
  if (!held) return kNone;
  return level.banks[Index(*held)].Of(PageIndex(page, *held));
}

TlbHierarchy::Plain TlbHierarchy::MakePlain(AccessSide side) const {
  constexpr size_t k4K = Index(PageSize::k4K);
  const Banks& first = level(1, side).banks[k4K];
  const Banks& second = level(2, side).banks[k4K];
  if (inclusion_ != TlbInclusion::kNone || first.count != 1) return {};
  if (second.count > 1) return {};
  return {first.arrays[0], second.empty() ? kNone : second.arrays[0]};
}

bool TlbHierarchy::HoldsLarge(const Level& level) const {
  for (const PageSize size : {PageSize::k2M, PageSize::k1G}) {
    const Banks& banks = level.banks[Index(size)];
    for (uint8_t i = 0; i < banks.count; ++i) {
      if (arrays_[banks.arrays[i]].HoldsSize(size)) return true;
    }
  }
  return false;
}

TlbHierarchy::Found TlbHierarchy::Lookup(AccessSide side,
                                         const TlbContext& context,
                                         VirtPage page,
                                         std::span<TlbCounters> counters) {
  Found hit;
  if (!FindIn(level(1, side), context, page, hit)) {
    return LookupSecond(side, context, page, counters);
  }
  hit.level = 1;
  arrays_[hit.array].OnHit(hit.slot);
  return hit;
}

TlbHierarchy::Found TlbHierarchy::LookupSecondAny(
    AccessSide side, const TlbContext& context, VirtPage page,
    std::span<TlbCounters> counters) {
  Found second;
  if (!FindIn(level(2, side), context, page, second)) return {};
  return MoveUp(side, context, page, second.array, second.slot, counters);
}

TlbHierarchy::Found TlbHierarchy::MoveUp(AccessSide side,
                                         const TlbContext& context,
                                         VirtPage page, uint8_t array,
                                         uint32_t slot,
                                         std::span<TlbCounters> counters) {
  Tlb& stlb = arrays_[array];
  TlbEntry entry = stlb.EntryAt(slot);
  entry.thread = context.thread;  // a sibling may have filled a global one
  const bool whole = *level(1, side).held_as[Index(entry.size)] == entry.size;
  if (inclusion_ == TlbInclusion::kExclusive && whole) {
    stlb.Drop(slot);
  } else {
    stlb.OnHit(slot);
  }
  Found found = FillFirst(side, page, entry, counters);
  found.level = 2;
  found.second_array = array;
  found.size = entry.size;
  return found;
}

TlbHierarchy::Found TlbHierarchy::Fill(AccessSide side, VirtPage page,
                                       const TlbEntry& walked,
                                       std::span<TlbCounters> counters) {
  had_large_ |= walked.size != PageSize::k4K;
  if (inclusion_ != TlbInclusion::kExclusive) {
    FillSecond(side, page, walked, counters);
  }
  return FillFirst(side, page, walked, counters);
}

uint32_t TlbHierarchy::Insert(uint8_t array, const TlbEntry& entry,
                              std::span<TlbCounters> counters,
                              std::optional<TlbEntry>* evicted) {
  const Tlb::Inserted inserted = arrays_[array].Insert(entry, evicted);
  ++counters[array].fills;
  counters[array].evictions += inserted.displaced;
  AfterDrop(array, inserted.dropped, counters);
  return inserted.slot;
}

TlbHierarchy::Found TlbHierarchy::FillFirst(AccessSide side, VirtPage page,
                                            const TlbEntry& entry,
                                            std::span<TlbCounters> counters) {
  const Level& first = level(1, side);
  const PageSize size = *first.held_as[Index(entry.size)];
  Found found;
  found.array = first.banks[Index(size)].Of(PageIndex(page, size));
  found.flags = entry.flags;
  found.size = entry.size;
  std::optional<TlbEntry> evicted;
  found.slot =
      Insert(found.array, Piece(entry, page, size), counters, &evicted);
  if (evicted && inclusion_ == TlbInclusion::kExclusive) {
    TakeVictim(side, *evicted, counters);
  }
  return found;
}

void TlbHierarchy::FillSecond(AccessSide side, VirtPage page,
                              const TlbEntry& entry,
                              std::span<TlbCounters> counters) {
  const Level& second = level(2, side);
  const std::optional<PageSize> size = second.held_as[Index(entry.size)];
  if (!size) return;
  const uint8_t array = second.banks[Index(*size)].Of(PageIndex(page, *size));
  std::optional<TlbEntry> evicted;
  Insert(array, Piece(entry, page, *size), counters, &evicted);
  if (evicted && inclusion_ == TlbInclusion::kInclusive) {
    DropFromFirst(*evicted, counters);
  }
}

void TlbHierarchy::TakeVictim(AccessSide side, const TlbEntry& victim,
                              std::span<TlbCounters> counters) {
  const Level& second = level(2, side);
  const std::optional<PageSize> size = second.held_as[Index(victim.size)];
  if (WholeTakes(second, victim) || !size) return;
  Tlb& array =
      arrays_[second.banks[Index(*size)].Of(PageIndex(victim.page, *size))];
  if (!array.HasRoomFor(victim)) return;
  const TlbContext owner{victim.context, victim.context, victim.thread};
  const uint32_t held = array.Find(owner, victim.page, *size);
  TlbEntry kept = victim;
  if (held != Tlb::kMiss) {
    if (Knowledge(array.flags(held)) > Knowledge(victim.flags)) {
      kept = array.EntryAt(held);
    }
    array.Drop(held);
  }
  FillSecond(side, kept.page, kept, counters);
}

bool TlbHierarchy::WholeTakes(const Level& second, const TlbEntry& victim) {
  if (victim.origin == victim.size) return false;
  const Banks& banks = second.banks[Index(victim.origin)];
  if (banks.empty()) return false;
  Tlb& array = arrays_[banks.Of(PageIndex(victim.page, victim.origin))];
  const TlbContext owner{victim.context, victim.context, victim.thread};
  const uint32_t whole = array.Find(owner, victim.page, victim.origin);
  if (whole == Tlb::kMiss) return false;
  if (Knowledge(array.flags(whole)) >= Knowledge(victim.flags)) return true;
  if ((array.flags(whole) & kTlbStale) != 0) return false;
  // Where the page has become writable since, a walk will tell.
  if ((array.flags(whole) & victim.flags & kTlbWritable) != 0) {
    array.SetDirty(whole);
  }
  return true;
}

// Inclusion: the first level may not keep what the second has evicted.
void TlbHierarchy::DropFromFirst(const TlbEntry& evicted,
                                 std::span<TlbCounters> counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].config().level != 1) continue;
    counters[i].evictions +=
        arrays_[i].DropWithin(evicted.context, evicted.page, evicted.size);
  }
}

void TlbHierarchy::AfterDrop(size_t array, uint32_t dropped,
                             std::span<TlbCounters> counters) {
  counters[array].invalidated += dropped;
  if (dropped != 0 && is_inclusive() && arrays_[array].config().level == 2) {
    RestoreInclusion(counters);
  }
}

void TlbHierarchy::RestoreInclusion(std::span<TlbCounters> counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    Tlb& first = arrays_[i];
    if (first.config().level != 1) continue;
    for (uint32_t slot = 0; slot < first.slots(); ++slot) {
      const TlbEntry entry = first.EntryAt(slot);
      if (entry.context == ContextTag(0) || IsIncluded(first, entry)) continue;
      first.Drop(slot);
      ++counters[i].invalidated;
    }
  }
}

// By the second level of any side that the first-level array serves.
bool TlbHierarchy::IsIncluded(const Tlb& first, const TlbEntry& entry) const {
  const TlbContext owner{entry.context, entry.context, entry.thread};
  for (AccessSide side : kSides) {
    if (!Serves(first.config(), side)) continue;
    const Level& second = level(2, side);
    const std::optional<PageSize> size = second.held_as[Index(entry.origin)];
    if (!size || *size < entry.size) return true;
    const uint8_t array =
        second.banks[Index(*size)].Of(PageIndex(entry.page, *size));
    if (arrays_[array].Find(owner, entry.page, *size) != Tlb::kMiss) {
      return true;
    }
  }
  return false;
}

void TlbHierarchy::CountHit(AccessSide side, VirtPage page, const Found& found,
                            std::span<TlbCounters> counters) const {
  if (found.level == 1) {
    ++counters[found.array].hits;
    return;
  }
  ++counters[ArrayFor(level(1, side), page, found.size)].misses;
  ++counters[found.second_array].hits;
}

void TlbHierarchy::CountMiss(AccessSide side, VirtPage page, PageSize size,
                             std::span<TlbCounters> counters) const {
  for (int number : {1, 2}) {
    const uint8_t array = ArrayFor(level(number, side), page, size);
    if (array != kNone) ++counters[array].misses;
  }
}

void TlbHierarchy::SetDirty(const TlbContext& context, VirtPage page) {
  for (Tlb& array : arrays_) {
    if (array.config().side == TlbSide::kInst) continue;
    for (PageSize size : kAllPageSizes) {
      if (!array.HoldsSize(size)) continue;
      const uint32_t slot = array.Find(context, page, size);
      if (slot != Tlb::kMiss) array.SetDirty(slot);
    }
  }
}

void TlbHierarchy::DropPage(const TlbContext& context, VirtPage page,
                            bool globals, std::span<TlbCounters> counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    AfterDrop(i, arrays_[i].DropPage(context, page, globals), counters);
  }
}

void TlbHierarchy::DropContext(ContextTag context,
                               std::span<TlbCounters> counters) {
  DropContextsIf([context](ContextTag tag) { return tag == context; },
                 counters);
}

void TlbHierarchy::OnLoadContext(const TlbContext& context,
                                 std::span<TlbCounters> counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    AfterDrop(i, arrays_[i].OnLoadContext(context.tag, context.thread),
              counters);
  }
}

void TlbHierarchy::SetActiveThreads(uint32_t mask,
                                    std::span<TlbCounters> counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    AfterDrop(i, arrays_[i].SetActiveThreads(mask), counters);
  }
}

void TlbHierarchy::AddTo(Digest& digest, const ContextTable& contexts) const {
  for (const Tlb& array : arrays_) array.AddTo(digest, contexts);
}

void TlbHierarchy::CheckInvariants() const {
  for (const Tlb& array : arrays_) array.CheckInvariants();
}

}  // namespace lookaside
