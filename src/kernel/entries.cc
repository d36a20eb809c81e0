// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/entries.h"

#include <algorithm>

namespace lookaside {
namespace {

bool IsTable(Pte pte, PagingLevel level) {
  return pte.present() && !IsLeaf(pte, level);
}

// Below `table`, whose first entry at `level` covers `start`. Only the lower
// half of addresses is a program's, so no sign extension is needed.
std::optional<EntryRef> NextBelow(const TableMemory& tables, FrameNumber table,
                                  PagingLevel level, uint64_t start,
                                  VirtPage first, VirtPage end) {
  const unsigned order = SpanOrder(level);
  unsigned i = first.value() > start
                   ? static_cast<unsigned>((first.value() - start) >> order)
                   : 0;
  for (; i < kEntriesPerTable; ++i) {
    const uint64_t page = start + (uint64_t{i} << order);
    if (page >= end.value()) break;
    const PhysAddr address = EntryAddress(table, i);
    const Pte pte = tables.Read(address);
    if (pte.none()) continue;
    if (!IsTable(pte, level))
      return EntryRef{address, pte, level, VirtPage(page)};
    const auto found =
        NextBelow(tables, pte.frame(), Below(level), page, first, end);
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

EntryRef FindEntry(const TableMemory& tables, const PageTable& table,
                   VirtPage page) {
  FrameNumber frame = table.root();
  for (PagingLevel level = table.top();; level = Below(level)) {
    const PhysAddr address = EntryAddress(frame, EntryIndex(page, level));
    const Pte pte = tables.Read(address);
    if (!IsTable(pte, level)) {
      const uint64_t mask = (uint64_t{1} << SpanOrder(level)) - 1;
      return {address, pte, level, VirtPage(page.value() & ~mask)};
    }
    frame = pte.frame();
  }
}

std::optional<EntryRef> NextEntry(const TableMemory& tables,
                                  const PageTable& table, VirtPage first,
                                  VirtPage end) {
  end = std::min(end, UserEnd(table.levels()));
  return NextBelow(tables, table.root(), table.top(), 0, first, end);
}

bool StraddlesHuge(const TableMemory& tables, const PageTable& table,
                   VirtPage page) {
  const EntryRef entry = FindEntry(tables, table, page);
  return MapsFrame(entry.pte) && entry.level == PagingLevel::kPde &&
         entry.page < page;
}

}  // namespace lookaside
