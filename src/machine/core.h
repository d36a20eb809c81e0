// SPDX-License-Identifier: Apache-2.0
//
// What the hardware threads of a core share: TLBs, paging-structure caches,
// page walkers, and the page-table lines in its private caches.
#ifndef LOOKASIDE_MACHINE_CORE_H_
#define LOOKASIDE_MACHINE_CORE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/pagetable/page_table_lines.h"
#include "lookaside/pagetable/pte_prefetch.h"
#include "lookaside/pagetable/walk_config.h"
#include "lookaside/pagetable/walker_pool.h"
#include "lookaside/tlb/context_table.h"
#include "lookaside/tlb/paging_structure_caches.h"
#include "lookaside/tlb/psc_config.h"
#include "lookaside/tlb/tlb_config.h"
#include "lookaside/tlb/tlb_hierarchy.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

// The page that each side of the first level translated last, by the kind of
// event that may use it again without looking: then the entry is the most
// recent of its set already, and a hit changes nothing in any array. A page
// whose entry is clean is not here for stores.
//
// It is a memory of the present TLB contents, no state of its own: whatever
// changes them other than the owner's own accesses clears it.
struct LastPages {
  static constexpr uint64_t kNone = ~uint64_t{0};

  std::array<uint64_t, 4> page{kNone, kNone, kNone, kNone};  // by EventKind
  std::array<uint8_t, 2> array{};                            // by AccessSide
  ThreadSlot owner;

  void Clear(AccessSide side) {
    if (side == AccessSide::kInst) {
      page[0] = kNone;
    } else {
      page[1] = page[2] = page[3] = kNone;
    }
  }
  void Clear() { page = {kNone, kNone, kNone, kNone}; }
};

struct Core {
  Core(const TlbHierarchyConfig& tlb_config, const PscConfig& psc_config,
       const WalkConfig& walk_config, uint32_t threads, uint64_t seed)
      : tlb(tlb_config, threads, seed),
        psc(psc_config),
        lines(walk_config),
        walkers(walk_config.walkers) {}

  ContextTable contexts;
  TlbHierarchy tlb;
  PagingStructureCaches psc;
  CoreLineCaches lines;
  WalkerPool walkers;
  uint32_t active_threads = 0;  // bit mask
  LastPages last_pages;
  // The tree that each tag was last loaded with, by ContextTag.
  std::vector<TreeId> tree_of_tag;
  PtePrefetch prefetch;  // no state

  // `now`: the least clock of the core's hardware threads.
  void AddTo(Digest& digest, Cycles now) const {
    tlb.AddTo(digest, contexts);
    psc.AddTo(digest, contexts);
    lines.AddTo(digest);
    walkers.AddTo(digest, now);
    digest.Add(active_threads);
  }
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_CORE_H_
