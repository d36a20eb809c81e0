// SPDX-License-Identifier: Apache-2.0
//
// The page table of one address space: a tree of 4 or 5 levels over
// PhysicalMemory, with leafs of 4K, 2M and 1G (Intel SDM volume 3, 4.5; Linux
// mm/memory.c and include/linux/pgtable.h for the operations).
//
// These are the bare operations: each entry is changed at once, and nothing
// is invalidated, locked or charged. The kernel's programs put those around
// them. Entries that point to tables allow everything; permissions are those
// of the leaf.
//
// Clearing leafs never frees tables: tables that became empty stay until
// CollectEmptyTables unhooks them, and live on, unreachable, until FreeTable.
// Between the two a paging-structure cache may still point to them.
//
// Left out: splitting a large leaf (unmap it and map its parts), swap
// entries, protection keys.
//
// Invariants: no page is mapped twice; a table has one parent; the root
// exists until Destroy.
//
// Thread-compatible. A value: two words that name the tree; copying it copies
// no table.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(PageTable table,
//                              PageTable::Create(memory, 4, node));
//   LOOKASIDE_RETURN_IF_ERROR(
//       table.Map(memory, page, PageSize::k4K, Pte::Leaf(...), node));
//   std::optional<Translation> t = table.Lookup(memory.tables, page);
#ifndef LOOKASIDE_PAGETABLE_PAGE_TABLE_H_
#define LOOKASIDE_PAGETABLE_PAGE_TABLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/address.h"
#include "lookaside/base/ids.h"
#include "lookaside/pagetable/physical_memory.h"
#include "lookaside/pagetable/pte.h"
#include "lookaside/pagetable/table_memory.h"
#include "lookaside/tlb/paging_structure_caches.h"

namespace lookaside {

// A leaf where it stands.
struct LeafEntry {
  VirtPage page;  // the first that it maps
  PageSize size = PageSize::k4K;
  Pte pte;
  PhysAddr address;  // of the entry

  friend bool operator==(const LeafEntry&, const LeafEntry&) = default;
};

// What the tree says of a page.
struct Translation {
  LeafEntry leaf;
  PagePermissions permissions;  // of all levels combined

  friend bool operator==(const Translation&, const Translation&) = default;
};

// A table that was unhooked from its tree.
struct UnhookedTable {
  FrameNumber frame;
  PagingLevel level = PagingLevel::kPte;  // of its entries
  VirtPage page;                          // the first that it translated
  NodeId node;

  friend bool operator==(const UnhookedTable&, const UnhookedTable&) = default;
};

// The level at which a page of `size` has its leaf.
constexpr PagingLevel LeafLevel(PageSize size) {
  return static_cast<PagingLevel>(size);
}

// Whether a present entry at `level` maps a page.
constexpr bool IsLeaf(Pte pte, PagingLevel level) {
  return level == PagingLevel::kPte || pte.page_size();
}

class PageTable {
 public:
  // A tree without leafs whose root lies on `node`; ResourceExhausted if
  // there is no memory. REQUIRES: levels is 4 or 5.
  static absl::StatusOr<PageTable> Create(PhysicalMemory& memory, int levels,
                                          NodeId node);
  // The tree over an existing root. REQUIRES: `root` is a table.
  PageTable(FrameNumber root, int levels) : root_(root), levels_(levels) {}

  FrameNumber root() const { return root_; }
  int levels() const { return levels_; }
  friend bool operator==(const PageTable&, const PageTable&) = default;
  // The level of the root's entries.
  PagingLevel top() const { return static_cast<PagingLevel>(levels_ - 1); }

  // Enters `leaf` for the page of `size` at `page`; tables that are missing
  // are allocated on `node`. ResourceExhausted if there is no memory for
  // them (those already hooked in stay, empty); AlreadyExists, and nothing
  // changed, if the place holds a leaf or a table, or lies under a leaf.
  // REQUIRES: `page` is aligned to `size` and canonical for the tree's levels;
  // `leaf` is present and its PS bit says `size`.
  absl::Status Map(PhysicalMemory& memory, VirtPage page, PageSize size,
                   Pte leaf, NodeId node) const;

  // Clears the leaf that maps `page` and returns what it was.
  std::optional<LeafEntry> Unmap(TableMemory& tables, VirtPage page) const;

  // Gives the leaf that maps `page` other permissions and returns what it
  // was; every other bit stays.
  std::optional<LeafEntry> Protect(TableMemory& tables, VirtPage page,
                                   PagePermissions permissions) const;

  // A walk by software: no side effects.
  std::optional<Translation> Lookup(const TableMemory& tables,
                                    VirtPage page) const;

  // Calls `visit` for every leaf that maps any page of [first, last], in the
  // order of addresses. REQUIRES: `visit` changes at most the leaf it is
  // given.
  void ForEachLeaf(const TableMemory& tables, VirtPage first, VirtPage last,
                   absl::FunctionRef<void(const LeafEntry&)> visit) const;

  // Unhooks the empty tables whose whole span lies in [first, last], lowest
  // level first, so that a table emptied by it goes too. Never the root.
  // The frames stay in use until FreeTable.
  std::vector<UnhookedTable> CollectEmptyTables(PhysicalMemory& memory,
                                                VirtPage first,
                                                VirtPage last) const;

  // Frees every table, the root too; frames that leafs map are the caller's.
  void Destroy(PhysicalMemory& memory) const;

 private:
  // Pages by the bits that the tree's levels translate, so that a range may
  // cross the gap of addresses that are not canonical.
  struct Range {
    VirtPage first;
    VirtPage last;
  };
  Range Translated(VirtPage first, VirtPage last) const;
  VirtPage Canonical(VirtPage translated) const;

  void VisitLeafs(const TableMemory& tables, FrameNumber table,
                  PagingLevel level, VirtPage start, const Range& range,
                  absl::FunctionRef<void(const LeafEntry&)> visit) const;
  void Collect(PhysicalMemory& memory, FrameNumber table, PagingLevel level,
               VirtPage start, const Range& range,
               std::vector<UnhookedTable>& unhooked) const;
  static void DestroyBelow(PhysicalMemory& memory, FrameNumber table,
                           PagingLevel level);

  FrameNumber root_;
  int levels_;
};

// Gives the frame of a table back. REQUIRES: nothing points to it.
void FreeTable(PhysicalMemory& memory, FrameNumber table);

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_PAGE_TABLE_H_
