// SPDX-License-Identifier: Apache-2.0
//
// The naive twin of PagingStructureCaches: one vector of entries with the
// time of their last use, searched from end to end.
#ifndef LOOKASIDE_TESTING_REFERENCE_PAGING_STRUCTURE_CACHES_H_
#define LOOKASIDE_TESTING_REFERENCE_PAGING_STRUCTURE_CACHES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/tlb/context_table.h"
#include "lookaside/tlb/paging_structure_caches.h"
#include "lookaside/tlb/psc_config.h"

namespace lookaside {

class ReferencePagingStructureCaches {
 public:
  explicit ReferencePagingStructureCaches(const PscConfig& config)
      : config_(config) {}

  PscHit Find(ContextTag tag, VirtPage page);
  bool Contains(ContextTag tag, VirtPage page, PagingLevel level) const;
  void Fill(ContextTag tag, VirtPage page, PagingLevel level,
            const PscEntry& entry);
  size_t Invlpg(ContextTag tag, VirtPage page);
  size_t InvalidateAddress(ContextTag tag, VirtPage page);
  size_t InvalidateTag(ContextTag tag);
  size_t InvalidateAll();
  size_t size(PagingLevel level) const;

 private:
  struct Item {
    PagingLevel level;
    ContextTag tag;
    uint64_t prefix;  // the page's bits that select the entry
    PscEntry entry;
    uint64_t last_use;
  };

  uint32_t Capacity(PagingLevel level) const;
  uint32_t Ways(PagingLevel level) const;
  uint64_t SetOf(const Item& item) const;
  static bool Matches(const Item& item, ContextTag tag, VirtPage page);
  size_t EraseIf(const std::function<bool(const Item&)>& drop);

  PscConfig config_;
  std::vector<Item> items_;
  uint64_t now_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TESTING_REFERENCE_PAGING_STRUCTURE_CACHES_H_
