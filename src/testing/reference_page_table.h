// SPDX-License-Identifier: Apache-2.0
//
// The naive twin of PageTable: leafs in a map by first page, and the tables
// that a tree would have by level and prefix. It knows no physical addresses
// of tables, so addresses and nodes are not compared.
#ifndef LOOKASIDE_TESTING_REFERENCE_PAGE_TABLE_H_
#define LOOKASIDE_TESTING_REFERENCE_PAGE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/pagetable/pte.h"

namespace lookaside {

class ReferencePageTable {
 public:
  struct Leaf {
    VirtPage page;
    PageSize size = PageSize::k4K;
    Pte pte;
  };
  struct Table {
    PagingLevel level = PagingLevel::kPte;  // of its entries
    VirtPage page;                          // the first that it translates

    friend auto operator<=>(const Table&, const Table&) = default;
  };

  explicit ReferencePageTable(int levels) : levels_(levels) {}

  // Whether there was room; nothing changes if not.
  bool Map(VirtPage page, PageSize size, Pte leaf);
  std::optional<Leaf> Unmap(VirtPage page);
  std::optional<Leaf> Protect(VirtPage page, PagePermissions permissions);
  std::optional<Leaf> Lookup(VirtPage page) const;
  std::vector<Leaf> Leafs(VirtPage first, VirtPage last) const;
  // In the order of level, then address.
  std::vector<Table> CollectEmptyTables(VirtPage first, VirtPage last);

  // What a walk from `from` for `page` sets: accessed in the entries that
  // point to tables below `from` (returns how many were clear) ...
  int SetAccessed(VirtPage page, PagingLevel from);
  // ... and accessed and dirty in the leaf. REQUIRES: `page` is mapped.
  Leaf& LeafOf(VirtPage page);

  // The level of the last entry that a walk can load for `page`.
  PagingLevel LastLevel(VirtPage page) const;

  size_t leafs() const { return leafs_.size(); }
  // The root counts.
  size_t tables() const { return tables_.size() + 1; }

 private:
  // The table of entries of `level` that translates `page`.
  static Table TableOf(VirtPage page, PagingLevel level);
  bool Empty(const Table& table) const;

  int levels_;
  std::map<VirtPage, Leaf> leafs_;
  std::map<Table, bool> tables_;  // all but the root; accessed in the parent
};

}  // namespace lookaside

#endif  // LOOKASIDE_TESTING_REFERENCE_PAGE_TABLE_H_
