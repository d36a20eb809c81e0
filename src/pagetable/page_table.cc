// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_table.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

absl::StatusOr<FrameNumber> AllocateTable(PhysicalMemory& memory, NodeId node) {
  LOOKASIDE_ASSIGN_OR_RETURN(
      const FrameNumber frame,
      memory.frames.Allocate(PageSize::k4K, node, Mobility::kUnmovable));
  memory.tables.AddTable(frame);
  return frame;
}

absl::Status AlreadyMapped(VirtPage page, PagingLevel level) {
  return absl::AlreadyExistsError(
      fmt::format("virtual page {:#x} is in use: its {} is present",
                  page.value(), Name(level)));
}

// The entries of a table that starts at `start` which touch [first, last].
std::pair<unsigned, unsigned> EntriesIn(VirtPage start, PagingLevel level,
                                        VirtPage first, VirtPage last) {
  const uint64_t end = start.value() + (uint64_t{511} << SpanOrder(level));
  return {first > start ? EntryIndex(first, level) : 0,
          last.value() < end ? EntryIndex(last, level) : 511};
}

VirtPage EntryStart(VirtPage start, PagingLevel level, unsigned index) {
  return VirtPage(start.value() + (uint64_t{index} << SpanOrder(level)));
}

}  // namespace

absl::StatusOr<PageTable> PageTable::Create(PhysicalMemory& memory, int levels,
                                            NodeId node) {
  LOOKASIDE_CHECK(levels == 4 || levels == 5);
  LOOKASIDE_ASSIGN_OR_RETURN(const FrameNumber root,
                             AllocateTable(memory, node));
  const PageTable table(root, levels);
  memory.tables.MakeRoot(root, table.top());
  return table;
}

absl::Status PageTable::Map(PhysicalMemory& memory, VirtPage page,
                            PageSize size, Pte leaf, NodeId node) const {
  LOOKASIDE_CHECK(page == AlignDown(page, size));
  LOOKASIDE_CHECK(page == Canonical(page));
  LOOKASIDE_CHECK(leaf.present());
  LOOKASIDE_CHECK(leaf.page_size() == (size != PageSize::k4K));
  FrameNumber table = root_;
  PagingLevel level = top();
  for (; level != LeafLevel(size); level = Below(level)) {
    const PhysAddr address = EntryAddress(table, EntryIndex(page, level));
    const Pte entry = memory.tables.Read(address);
    if (entry.present()) {
      if (IsLeaf(entry, level)) return AlreadyMapped(page, level);
      table = entry.frame();
      continue;
    }
    LOOKASIDE_ASSIGN_OR_RETURN(table, AllocateTable(memory, node));
    memory.tables.Write(address, Pte::Table(table));
  }
  const PhysAddr address = EntryAddress(table, EntryIndex(page, level));
  if (memory.tables.Read(address).present()) return AlreadyMapped(page, level);
  memory.tables.Write(address, leaf);
  return absl::OkStatus();
}

std::optional<Translation> PageTable::Lookup(const TableMemory& tables,
                                             VirtPage page) const {
  PagePermissions permissions{.writable = true, .user = true, .nx = false};
  FrameNumber table = root_;
  for (PagingLevel level = top();; level = Below(level)) {
    const PhysAddr address = EntryAddress(table, EntryIndex(page, level));
    const Pte pte = tables.Read(address);
    if (!pte.present()) return std::nullopt;
    permissions = Combine(permissions, pte.permissions());
    if (IsLeaf(pte, level)) {
      const auto size = static_cast<PageSize>(level);
      return Translation{{AlignDown(page, size), size, pte, address},
                         permissions};
    }
    table = pte.frame();
  }
}

std::optional<LeafEntry> PageTable::Unmap(TableMemory& tables,
                                          VirtPage page) const {
  const std::optional<Translation> found = Lookup(tables, page);
  if (!found) return std::nullopt;
  tables.Write(found->leaf.address, Pte());
  return found->leaf;
}

std::optional<LeafEntry> PageTable::Protect(TableMemory& tables, VirtPage page,
                                            PagePermissions permissions) const {
  const std::optional<Translation> found = Lookup(tables, page);
  if (!found) return std::nullopt;
  tables.Write(found->leaf.address,
               found->leaf.pte.WithPermissions(permissions));
  return found->leaf;
}

PageTable::Range PageTable::Translated(VirtPage first, VirtPage last) const {
  const uint64_t mask = (uint64_t{1} << 9 * levels_) - 1;
  return {VirtPage(first.value() & mask), VirtPage(last.value() & mask)};
}

VirtPage PageTable::Canonical(VirtPage translated) const {
  return CanonicalPage(translated, levels_);
}

void PageTable::ForEachLeaf(
    const TableMemory& tables, VirtPage first, VirtPage last,
    absl::FunctionRef<void(const LeafEntry&)> visit) const {
  VisitLeafs(tables, root_, top(), VirtPage(0), Translated(first, last), visit);
}

void PageTable::VisitLeafs(
    const TableMemory& tables, FrameNumber table, PagingLevel level,
    VirtPage start, const Range& range,
    absl::FunctionRef<void(const LeafEntry&)> visit) const {
  const auto [low, high] = EntriesIn(start, level, range.first, range.last);
  for (unsigned i = low; i <= high; ++i) {
    const PhysAddr address = EntryAddress(table, i);
    const Pte pte = tables.Read(address);
    if (!pte.present()) continue;
    const VirtPage page = EntryStart(start, level, i);
    if (IsLeaf(pte, level)) {
      visit({Canonical(page), static_cast<PageSize>(level), pte, address});
    } else {
      VisitLeafs(tables, pte.frame(), Below(level), page, range, visit);
    }
  }
}

std::vector<UnhookedTable> PageTable::CollectEmptyTables(PhysicalMemory& memory,
                                                         VirtPage first,
                                                         VirtPage last) const {
  std::vector<UnhookedTable> unhooked;
  Collect(memory, root_, top(), VirtPage(0), Translated(first, last), unhooked);
  return unhooked;
}

void PageTable::Collect(PhysicalMemory& memory, FrameNumber table,
                        PagingLevel level, VirtPage start, const Range& range,
                        std::vector<UnhookedTable>& unhooked) const {
  if (level == PagingLevel::kPte) return;
  const auto [low, high] = EntriesIn(start, level, range.first, range.last);
  for (unsigned i = low; i <= high; ++i) {
    const PhysAddr address = EntryAddress(table, i);
    const Pte pte = memory.tables.Read(address);
    if (!pte.present() || IsLeaf(pte, level)) continue;
    const VirtPage page = EntryStart(start, level, i);
    const FrameNumber child = pte.frame();
    Collect(memory, child, Below(level), page, range, unhooked);
    const uint64_t end = page.value() + (uint64_t{1} << SpanOrder(level)) - 1;
    if (memory.tables.Used(child) != 0 || page < range.first ||
        end > range.last.value()) {
      continue;
    }
    memory.tables.Write(address, Pte());
    unhooked.push_back(
        {child, Below(level), Canonical(page), memory.frames.NodeOf(child)});
  }
}

void PageTable::Destroy(PhysicalMemory& memory) const {
  DestroyBelow(memory, root_, top());
}

void PageTable::DestroyBelow(PhysicalMemory& memory, FrameNumber table,
                             PagingLevel level) {
  for (unsigned i = 0; i < kEntriesPerTable && level != PagingLevel::kPte;
       ++i) {
    const Pte pte = memory.tables.Read(EntryAddress(table, i));
    if (pte.present() && !IsLeaf(pte, level)) {
      DestroyBelow(memory, pte.frame(), Below(level));
    }
  }
  FreeTable(memory, table);
}

void FreeTable(PhysicalMemory& memory, FrameNumber table) {
  memory.tables.RemoveTable(table);
  memory.frames.Free(table, PageSize::k4K);
}

}  // namespace lookaside
