// SPDX-License-Identifier: Apache-2.0
#include "lookaside/testing/reference_tlb_hierarchy.h"

namespace lookaside {
namespace {

TlbEntry PieceOf(const TlbEntry& entry, VirtPage page, PageSize size) {
  TlbEntry piece = entry;
  piece.size = size;
  piece.page = VirtPage(page.value() / PagesIn(size) * PagesIn(size));
  const uint64_t offset = piece.page.value() - entry.page.value();
  piece.frame = FrameNumber(entry.frame.value() + offset);
  return piece;
}

// Whether `a` knows of a translation what `b` does not: that it is not stale,
// or else that it is dirty, or else that it is writable.
bool KnowsMore(const TlbEntry& a, const TlbEntry& b) {
  if ((a.flags & kTlbStale) != (b.flags & kTlbStale)) {
    return (b.flags & kTlbStale) != 0;
  }
  if ((a.flags & kTlbDirty) != (b.flags & kTlbDirty)) {
    return (a.flags & kTlbDirty) != 0;
  }
  return (a.flags & kTlbWritable) != 0 && (b.flags & kTlbWritable) == 0;
}

}  // namespace

ReferenceTlbHierarchy::ReferenceTlbHierarchy(const TlbHierarchyConfig& config,
                                             uint32_t threads, uint64_t seed)
    : inclusion_(config.inclusion) {
  for (size_t i = 0; i < config.arrays.size(); ++i) {
    arrays_.emplace_back(config.arrays[i], threads, seed + i);
  }
}

std::vector<size_t> ReferenceTlbHierarchy::ArraysOf(uint32_t level,
                                                    AccessSide side,
                                                    PageSize size) const {
  const TlbSide own =
      side == AccessSide::kInst ? TlbSide::kInst : TlbSide::kData;
  std::vector<size_t> found;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    const TlbConfig& config = arrays_[i].config();
    if (config.level == level && config.pages.Has(size) &&
        (config.side == own || config.side == TlbSide::kUnified)) {
      found.push_back(i);
    }
  }
  return found;
}

// In what size a page of `size` is held, if at all: its own where some array
// lists that, or the largest smaller one of an array that takes pieces.
std::optional<PageSize> ReferenceTlbHierarchy::HeldAs(uint32_t level,
                                                      AccessSide side,
                                                      PageSize size) const {
  if (!ArraysOf(level, side, size).empty()) return size;
  for (PageSize smaller : {PageSize::k2M, PageSize::k4K}) {
    if (smaller >= size) continue;
    for (size_t i : ArraysOf(level, side, smaller)) {
      if (level == 1 || arrays_[i].config().fracture) return smaller;
    }
  }
  return std::nullopt;
}

// The banks of an entry of exactly `size`.
std::optional<size_t> ReferenceTlbHierarchy::BankFor(uint32_t level,
                                                     AccessSide side,
                                                     VirtPage page,
                                                     PageSize size) const {
  const std::vector<size_t> banks = ArraysOf(level, side, size);
  if (banks.empty()) return std::nullopt;
  const uint64_t number = page.value() / PagesIn(size);
  const uint64_t sets = arrays_[banks[0]].config().sets();
  return banks[number / sets % banks.size()];
}

std::optional<ReferenceTlbHierarchy::Hit> ReferenceTlbHierarchy::FindIn(
    uint32_t level, AccessSide side, const TlbContext& context, VirtPage page) {
  for (PageSize size : kAllPageSizes) {
    const std::optional<size_t> bank = BankFor(level, side, page, size);
    if (!bank) continue;
    if (TlbEntry* entry = arrays_[*bank].Find(context, page, size)) {
      return Hit{*bank, entry};
    }
  }
  return std::nullopt;
}

ReferenceTlbHierarchy::Found ReferenceTlbHierarchy::Lookup(
    AccessSide side, const TlbContext& context, VirtPage page,
    std::vector<TlbCounters>& counters) {
  if (const std::optional<Hit> hit = FindIn(1, side, context, page)) {
    arrays_[hit->array].OnHit(hit->entry);
    return {1, hit->array, 0, hit->entry->size, hit->entry};
  }
  const std::optional<Hit> hit = FindIn(2, side, context, page);
  if (!hit) return Found();
  TlbEntry entry = *hit->entry;
  entry.thread = context.thread;
  if (inclusion_ == TlbInclusion::kExclusive &&
      !ArraysOf(1, side, entry.size).empty()) {
    arrays_[hit->array].Drop(hit->entry);
  } else {
    arrays_[hit->array].OnHit(hit->entry);
  }
  Found found = FillFirst(side, page, entry, counters);
  found.level = 2;
  found.second_array = hit->array;
  return found;
}

ReferenceTlbHierarchy::Found ReferenceTlbHierarchy::Fill(
    AccessSide side, VirtPage page, const TlbEntry& walked,
    std::vector<TlbCounters>& counters) {
  if (inclusion_ != TlbInclusion::kExclusive) {
    FillSecond(side, page, walked, counters);
  }
  return FillFirst(side, page, walked, counters);
}

ReferenceTlb::Inserted ReferenceTlbHierarchy::Insert(
    size_t array, const TlbEntry& entry, std::vector<TlbCounters>& counters) {
  const ReferenceTlb::Inserted inserted = arrays_[array].Insert(entry);
  counters[array].fills += 1;
  if (inserted.evicted) counters[array].evictions += 1;
  AfterDrop(array, inserted.dropped, counters);
  return inserted;
}

ReferenceTlbHierarchy::Found ReferenceTlbHierarchy::FillFirst(
    AccessSide side, VirtPage page, const TlbEntry& entry,
    std::vector<TlbCounters>& counters) {
  const PageSize size = *HeldAs(1, side, entry.size);
  const size_t array = *BankFor(1, side, page, size);
  const ReferenceTlb::Inserted inserted =
      Insert(array, PieceOf(entry, page, size), counters);
  if (inserted.evicted && inclusion_ == TlbInclusion::kExclusive) {
    TakeVictim(side, *inserted.evicted, counters);
  }
  return {0, array, 0, entry.size, inserted.entry};
}

void ReferenceTlbHierarchy::FillSecond(AccessSide side, VirtPage page,
                                       const TlbEntry& entry,
                                       std::vector<TlbCounters>& counters) {
  const std::optional<PageSize> size = HeldAs(2, side, entry.size);
  if (!size) return;
  const size_t array = *BankFor(2, side, page, *size);
  const ReferenceTlb::Inserted inserted =
      Insert(array, PieceOf(entry, page, *size), counters);
  if (!inserted.evicted || inclusion_ != TlbInclusion::kInclusive) return;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].config().level != 1) continue;
    counters[i].evictions +=
        arrays_[i].DropWithin(inserted.evicted->context, inserted.evicted->page,
                              inserted.evicted->size);
  }
}

// The second level's entry of exactly `size` for the page of `entry`.
TlbEntry* ReferenceTlbHierarchy::HolderBelow(AccessSide side,
                                             const TlbEntry& entry,
                                             PageSize size) {
  const std::optional<size_t> bank = BankFor(2, side, entry.page, size);
  if (!bank) return nullptr;
  const TlbContext owner{entry.context, entry.context, entry.thread};
  return arrays_[*bank].Find(owner, entry.page, size);
}

void ReferenceTlbHierarchy::TakeVictim(AccessSide side, const TlbEntry& victim,
                                       std::vector<TlbCounters>& counters) {
  if (victim.origin != victim.size) {
    TlbEntry* whole = HolderBelow(side, victim, victim.origin);
    if (whole != nullptr && !KnowsMore(victim, *whole)) return;
    if (whole != nullptr && (whole->flags & kTlbStale) == 0) {
      if ((whole->flags & kTlbWritable) != 0) whole->flags |= kTlbDirty;
      return;
    }
  }
  const std::optional<PageSize> size = HeldAs(2, side, victim.size);
  if (!size) return;
  if (!arrays_[*BankFor(2, side, victim.page, *size)].HasRoomFor(victim)) {
    return;
  }
  TlbEntry kept = victim;
  if (TlbEntry* held = HolderBelow(side, victim, *size)) {
    if (KnowsMore(*held, victim)) kept = *held;
    arrays_[*BankFor(2, side, victim.page, *size)].Drop(held);
  }
  FillSecond(side, kept.page, kept, counters);
}

// What the second level has lost, the first may not keep.
void ReferenceTlbHierarchy::AfterDrop(size_t array, uint32_t dropped,
                                      std::vector<TlbCounters>& counters) {
  counters[array].invalidated += dropped;
  if (inclusion_ != TlbInclusion::kInclusive || dropped == 0) return;
  if (arrays_[array].config().level != 2) return;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].config().level != 1) continue;
    for (const TlbEntry& entry : arrays_[i].Entries()) {
      if (IsIncluded(arrays_[i].config(), entry)) continue;
      const TlbContext owner{entry.context, entry.context, entry.thread};
      arrays_[i].Drop(arrays_[i].Find(owner, entry.page, entry.size));
      counters[i].invalidated += 1;
    }
  }
}

bool ReferenceTlbHierarchy::IsIncluded(const TlbConfig& first,
                                       const TlbEntry& entry) {
  for (AccessSide side : {AccessSide::kInst, AccessSide::kData}) {
    if (side == AccessSide::kInst && first.side == TlbSide::kData) continue;
    if (side == AccessSide::kData && first.side == TlbSide::kInst) continue;
    const std::optional<PageSize> size = HeldAs(2, side, entry.origin);
    if (!size || *size < entry.size) return true;
    if (HolderBelow(side, entry, *size) != nullptr) return true;
  }
  return false;
}

void ReferenceTlbHierarchy::CountHit(AccessSide side, VirtPage page,
                                     const Found& found,
                                     std::vector<TlbCounters>& counters) const {
  if (found.level == 1) {
    counters[found.array].hits += 1;
    return;
  }
  const PageSize size = *HeldAs(1, side, found.size);
  counters[*BankFor(1, side, page, size)].misses += 1;
  counters[found.second_array].hits += 1;
}

void ReferenceTlbHierarchy::CountMiss(
    AccessSide side, VirtPage page, PageSize size,
    std::vector<TlbCounters>& counters) const {
  for (uint32_t level : {1u, 2u}) {
    const std::optional<PageSize> held = HeldAs(level, side, size);
    if (held) counters[*BankFor(level, side, page, *held)].misses += 1;
  }
}

void ReferenceTlbHierarchy::SetDirty(const TlbContext& context, VirtPage page) {
  for (ReferenceTlb& array : arrays_) {
    if (array.config().side == TlbSide::kInst) continue;
    for (PageSize size : kAllPageSizes) {
      TlbEntry* entry = array.Find(context, page, size);
      if (entry != nullptr) entry->flags |= kTlbDirty;
    }
  }
}

void ReferenceTlbHierarchy::DropPage(const TlbContext& context, VirtPage page,
                                     bool globals,
                                     std::vector<TlbCounters>& counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    AfterDrop(i, arrays_[i].DropPage(context, page, globals), counters);
  }
}

void ReferenceTlbHierarchy::DropContextsIf(
    const std::function<bool(ContextTag)>& drop,
    std::vector<TlbCounters>& counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    counters[i].invalidated += arrays_[i].DropContextsIf(drop);
  }
}

void ReferenceTlbHierarchy::OnLoadContext(const TlbContext& context,
                                          std::vector<TlbCounters>& counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    AfterDrop(i, arrays_[i].OnLoadContext(context.tag, context.thread),
              counters);
  }
}

void ReferenceTlbHierarchy::SetActiveThreads(
    uint32_t mask, std::vector<TlbCounters>& counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    AfterDrop(i, arrays_[i].SetActiveThreads(mask), counters);
  }
}

}  // namespace lookaside
