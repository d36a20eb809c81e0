// SPDX-License-Identifier: Apache-2.0
#include "lookaside/testing/reference_paging_structure_caches.h"

#include <algorithm>

namespace lookaside {

uint32_t ReferencePagingStructureCaches::Capacity(PagingLevel level) const {
  switch (level) {
    case PagingLevel::kPde:
      return config_.pde;
    case PagingLevel::kPdpte:
      return config_.pdpte;
    case PagingLevel::kPml4e:
      return config_.pml4e;
    case PagingLevel::kPml5e:
      return config_.pml5e;
    case PagingLevel::kPte:
      return 0;
  }
  return 0;
}

uint32_t ReferencePagingStructureCaches::Ways(PagingLevel level) const {
  return level == PagingLevel::kPde && config_.pde_ways != 0 ? config_.pde_ways
                                                             : Capacity(level);
}

uint64_t ReferencePagingStructureCaches::SetOf(const Item& item) const {
  return item.prefix % (Capacity(item.level) / Ways(item.level));
}

bool ReferencePagingStructureCaches::Matches(const Item& item, ContextTag tag,
                                             VirtPage page) {
  return item.tag == tag &&
         item.prefix == page.value() >> SpanOrder(item.level);
}

PscHit ReferencePagingStructureCaches::Find(ContextTag tag, VirtPage page) {
  Item* deepest = nullptr;
  for (Item& item : items_) {
    if (!Matches(item, tag, page)) continue;
    if (deepest == nullptr || item.level < deepest->level) deepest = &item;
  }
  if (deepest == nullptr) return {};
  deepest->last_use = ++now_;
  return {deepest->level, deepest->entry};
}

bool ReferencePagingStructureCaches::Contains(ContextTag tag, VirtPage page,
                                              PagingLevel level) const {
  return std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
    return item.level == level && Matches(item, tag, page);
  });
}

void ReferencePagingStructureCaches::Fill(ContextTag tag, VirtPage page,
                                          PagingLevel level,
                                          const PscEntry& entry) {
  if (Capacity(level) == 0) return;
  EraseIf([&](const Item& item) {
    return item.level == level && Matches(item, tag, page);
  });
  const Item item{level, tag, page.value() >> SpanOrder(level), entry, ++now_};
  uint32_t in_set = 0;
  uint64_t oldest = now_;
  for (const Item& other : items_) {
    if (other.level != level || SetOf(other) != SetOf(item)) continue;
    ++in_set;
    oldest = std::min(oldest, other.last_use);
  }
  if (in_set == Ways(level)) {
    EraseIf([&](const Item& other) { return other.last_use == oldest; });
  }
  items_.push_back(item);
}

size_t ReferencePagingStructureCaches::Invlpg(ContextTag tag, VirtPage page) {
  return config_.invlpg_scope == InvlpgScope::kPcid
             ? InvalidateTag(tag)
             : InvalidateAddress(tag, page);
}

size_t ReferencePagingStructureCaches::InvalidateAddress(ContextTag tag,
                                                         VirtPage page) {
  return EraseIf([&](const Item& item) { return Matches(item, tag, page); });
}

size_t ReferencePagingStructureCaches::InvalidateTag(ContextTag tag) {
  return EraseIf([&](const Item& item) { return item.tag == tag; });
}

size_t ReferencePagingStructureCaches::InvalidateAll() {
  return EraseIf([](const Item&) { return true; });
}

size_t ReferencePagingStructureCaches::size(PagingLevel level) const {
  return static_cast<size_t>(
      std::count_if(items_.begin(), items_.end(),
                    [&](const Item& item) { return item.level == level; }));
}

size_t ReferencePagingStructureCaches::EraseIf(
    const std::function<bool(const Item&)>& drop) {
  return static_cast<size_t>(std::erase_if(items_, drop));
}

}  // namespace lookaside
