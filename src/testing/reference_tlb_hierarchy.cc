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
  if (inclusion_ == TlbInclusion::kExclusive) {
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
  counters[array].invalidated += inserted.dropped;
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
    FillSecond(side, inserted.evicted->page, *inserted.evicted, counters);
  }
  return {0, array, 0, entry.size, inserted.entry};
}

void ReferenceTlbHierarchy::FillSecond(AccessSide side, VirtPage page,
                                       const TlbEntry& entry,
                                       std::vector<TlbCounters>& counters) {
  const std::optional<PageSize> size = HeldAs(2, side, entry.size);
  if (!size) return;
  const size_t array = *BankFor(2, side, page, *size);
  if (inclusion_ == TlbInclusion::kExclusive) {
    const TlbContext owner{entry.context, entry.context, entry.thread};
    if (TlbEntry* older = arrays_[array].Find(owner, page, *size)) {
      arrays_[array].Drop(older);
    }
  }
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
    counters[i].invalidated += arrays_[i].DropPage(context, page, globals);
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
    counters[i].invalidated +=
        arrays_[i].OnLoadContext(context.tag, context.thread);
  }
}

void ReferenceTlbHierarchy::SetActiveThreads(
    uint32_t mask, std::vector<TlbCounters>& counters) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    counters[i].invalidated += arrays_[i].SetActiveThreads(mask);
  }
}

}  // namespace lookaside
