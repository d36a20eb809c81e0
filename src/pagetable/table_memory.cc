// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/table_memory.h"

#include <algorithm>

namespace lookaside {
namespace {

bool PointsToTable(Pte entry, PagingLevel level) {
  return entry.present() && level != PagingLevel::kPte && !entry.page_size();
}

// Whether no copy of `old` allows what `now` forbids or leads elsewhere, and
// none forbids what `now` allows.
bool IsInvisible(Pte old, Pte now) {
  constexpr uint64_t kSetOnly = Pte::kAccessed | Pte::kDirty;
  const uint64_t set = now.bits() & ~old.bits();
  const uint64_t cleared = old.bits() & ~now.bits();
  return (set & ~kSetOnly) == 0 && (cleared & ~Pte::kAccessed) == 0;
}

}  // namespace

TableMemory::TableMemory()
    : regions_of_block_(1),
      slots_of_region_(1),
      entries_(kEntriesPerTable),
      used_(1),
      places_(1) {}

// The cell that holds the table's slot, made if need be.
uint32_t& TableMemory::SlotCell(FrameNumber table) {
  const uint64_t frame = table.value();
  const uint64_t block = frame >> kBlockOrder;
  if (block >= block_count_) {
    block_count_ = block + 1;
    blocks_.resize(block_count_);
  }
  if (blocks_[block] == 0) {
    blocks_[block] = static_cast<uint32_t>(regions_of_block_.size());
    regions_of_block_.emplace_back();
  }
  uint32_t& region =
      regions_of_block_[blocks_[block]][frame >> kRegionOrder & 511];
  if (region == 0) {
    region = static_cast<uint32_t>(slots_of_region_.size());
    slots_of_region_.emplace_back();
  }
  return slots_of_region_[region][frame & 511];
}

void TableMemory::AddTable(FrameNumber table) {
  LOOKASIDE_CHECK(!IsTable(table));
  uint32_t& cell = SlotCell(table);
  if (free_slots_.empty()) {
    cell = static_cast<uint32_t>(used_.size());
    used_.push_back(0);
    places_.emplace_back();
    entries_.resize(entries_.size() + kEntriesPerTable);
  } else {
    cell = free_slots_.back();
    free_slots_.pop_back();
  }
  ++size_;
}

void TableMemory::RemoveTable(FrameNumber table) {
  LOOKASIDE_CHECK(IsTable(table));
  uint32_t& cell = SlotCell(table);
  const auto first =
      entries_.begin() + static_cast<ptrdiff_t>(cell * size_t{512});
  std::fill_n(first, kEntriesPerTable, Pte());
  used_[cell] = 0;
  places_[cell] = TablePlace();
  free_slots_.push_back(cell);
  cell = 0;
  --size_;
}

void TableMemory::MakeRoot(FrameNumber table, PagingLevel level) {
  LOOKASIDE_CHECK(IsTable(table));
  places_[Slot(table)] = {TreeId(++trees_), VirtPage(0), level, true};
}

// The table that entry `index` of the table at `place` now points to.
void TableMemory::Hook(const TablePlace& place, unsigned index, Pte value) {
  const size_t slot = Slot(value.frame());
  if (slot == 0) return;
  const uint64_t first =
      place.first.value() + (uint64_t{index} << SpanOrder(place.level));
  places_[slot] = {place.tree, VirtPage(first), Below(place.level), true};
}

void TableMemory::Log(const TablePlace& place, unsigned index, Pte old,
                      Pte now) {
  const uint64_t first =
      place.first.value() + (uint64_t{index} << SpanOrder(place.level));
  changes_.push_back({place.tree, VirtPage(first), place.level, old, now});
}

void TableMemory::Write(PhysAddr entry, Pte value) {
  LOOKASIDE_DCHECK(entry.value() % kEntryBytes == 0);
  const size_t slot = Slot(FrameNumber(entry.value() >> kPageShift));
  LOOKASIDE_CHECK(slot != 0);
  Pte& cell = entries_[slot * kEntriesPerTable + IndexIn(entry)];
  used_[slot] = static_cast<uint16_t>(used_[slot] + cell.none() - value.none());
  const Pte old = std::exchange(cell, value);
  const TablePlace& place = places_[slot];
  if (!place.known) return;
  if (PointsToTable(value, place.level)) Hook(place, IndexIn(entry), value);
  if (log_changes_ && old.present() && !IsInvisible(old, value)) {
    Log(place, IndexIn(entry), old, value);
  }
}

template <typename Visit>
void TableMemory::ForEachTable(const Visit& visit) const {
  for (uint64_t block = 0; block < blocks_.size(); ++block) {
    if (blocks_[block] == 0) continue;
    const Indexes& regions = regions_of_block_[blocks_[block]];
    for (uint64_t region = 0; region < regions.size(); ++region) {
      if (regions[region] == 0) continue;
      const Indexes& slots = slots_of_region_[regions[region]];
      for (uint64_t frame = 0; frame < slots.size(); ++frame) {
        if (slots[frame] == 0) continue;
        visit(
            FrameNumber(block << kBlockOrder | region << kRegionOrder | frame),
            size_t{slots[frame]});
      }
    }
  }
}

void TableMemory::AddTo(Digest& digest) const {
  digest.Add(size_);
  ForEachTable([&](FrameNumber table, size_t slot) {
    digest.Add(table);
    digest.AddBytes(&entries_[slot * kEntriesPerTable],
                    size_t{kEntriesPerTable} * kEntryBytes);
  });
}

bool operator==(const TableMemory& a, const TableMemory& b) {
  bool equal = a.size_ == b.size_;
  a.ForEachTable([&](FrameNumber table, size_t slot) {
    const size_t other = b.Slot(table);
    const auto first = [](const TableMemory& m, size_t s) {
      return m.entries_.begin() + static_cast<ptrdiff_t>(s * kEntriesPerTable);
    };
    equal = equal && other != 0 &&
            std::equal(first(a, slot), first(a, slot) + kEntriesPerTable,
                       first(b, other));
  });
  return equal;
}

}  // namespace lookaside
