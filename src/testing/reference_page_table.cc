// SPDX-License-Identifier: Apache-2.0
#include "lookaside/testing/reference_page_table.h"

#include <algorithm>
#include <cstddef>

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

VirtPage LastOf(const ReferencePageTable::Leaf& leaf) {
  return VirtPage(leaf.page.value() + PagesIn(leaf.size) - 1);
}

VirtPage LastOf(const ReferencePageTable::Table& table) {
  return VirtPage(table.page.value() +
                  (uint64_t{512} << SpanOrder(table.level)) - 1);
}

}  // namespace

ReferencePageTable::Table ReferencePageTable::TableOf(VirtPage page,
                                                      PagingLevel level) {
  const uint64_t span = uint64_t{512} << SpanOrder(level);
  return {level, VirtPage(page.value() / span * span)};
}

bool ReferencePageTable::Map(VirtPage page, PageSize size, Pte leaf) {
  const VirtPage last(page.value() + PagesIn(size) - 1);
  for (const auto& [first, other] : leafs_) {
    if (first <= last && LastOf(other) >= page) return false;
  }
  const PagingLevel level = LeafLevel(size);
  if (level != PagingLevel::kPte &&
      tables_.contains(TableOf(page, Below(level)))) {
    return false;
  }
  for (size_t l = Index(level); l + 1 < static_cast<size_t>(levels_); ++l) {
    tables_.try_emplace(TableOf(page, static_cast<PagingLevel>(l)), false);
  }
  leafs_[page] = {page, size, leaf};
  return true;
}

std::optional<ReferencePageTable::Leaf> ReferencePageTable::Lookup(
    VirtPage page) const {
  for (const auto& [first, leaf] : leafs_) {
    if (first <= page && page <= LastOf(leaf)) return leaf;
  }
  return std::nullopt;
}

ReferencePageTable::Leaf& ReferencePageTable::LeafOf(VirtPage page) {
  const std::optional<Leaf> leaf = Lookup(page);
  LOOKASIDE_CHECK(leaf.has_value());
  return leafs_.at(leaf->page);
}

std::optional<ReferencePageTable::Leaf> ReferencePageTable::Unmap(
    VirtPage page) {
  const std::optional<Leaf> leaf = Lookup(page);
  if (leaf) leafs_.erase(leaf->page);
  return leaf;
}

std::optional<ReferencePageTable::Leaf> ReferencePageTable::Protect(
    VirtPage page, PagePermissions permissions) {
  const std::optional<Leaf> leaf = Lookup(page);
  if (leaf) {
    Pte& pte = leafs_.at(leaf->page).pte;
    pte = pte.WithPermissions(permissions);
  }
  return leaf;
}

std::vector<ReferencePageTable::Leaf> ReferencePageTable::Leafs(
    VirtPage first, VirtPage last) const {
  std::vector<Leaf> found;
  for (const auto& [page, leaf] : leafs_) {
    if (page <= last && LastOf(leaf) >= first) found.push_back(leaf);
  }
  return found;
}

bool ReferencePageTable::Empty(const Table& table) const {
  if (!Leafs(table.page, LastOf(table)).empty()) return false;
  return std::none_of(tables_.begin(), tables_.end(), [&](const auto& entry) {
    const Table& other = entry.first;
    return other.level < table.level && other.page >= table.page &&
           other.page <= LastOf(table);
  });
}

std::vector<ReferencePageTable::Table> ReferencePageTable::CollectEmptyTables(
    VirtPage first, VirtPage last) {
  std::vector<Table> unhooked;
  for (auto it = tables_.begin(); it != tables_.end();) {
    const Table table = it->first;
    if (table.page >= first && LastOf(table) <= last && Empty(table)) {
      unhooked.push_back(table);
      it = tables_.erase(it);
    } else {
      ++it;
    }
  }
  return unhooked;
}

int ReferencePageTable::SetAccessed(VirtPage page, PagingLevel from) {
  int count = 0;
  for (auto& [table, accessed] : tables_) {
    if (table.level >= from || table != TableOf(page, table.level)) continue;
    if (!accessed) ++count;
    accessed = true;
  }
  return count;
}

PagingLevel ReferencePageTable::LastLevel(VirtPage page) const {
  auto level = static_cast<PagingLevel>(levels_ - 1);
  while (level != PagingLevel::kPte &&
         tables_.contains(TableOf(page, Below(level)))) {
    level = Below(level);
  }
  return level;
}

}  // namespace lookaside
