// SPDX-License-Identifier: Apache-2.0
//
// One page table, one core and one socket, as the walker's tests need them.
#ifndef LOOKASIDE_TEST_PAGETABLE_WALK_FIXTURE_H_
#define LOOKASIDE_TEST_PAGETABLE_WALK_FIXTURE_H_

#include <cstdint>

#include "lookaside/base/check.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/pagetable/page_walker.h"
#include "lookaside/pagetable/physical_memory.h"
#include "lookaside/tlb/paging_structure_caches.h"

namespace lookaside {

struct WalkFixtureConfig {
  int levels = 4;
  uint32_t nodes = 1;
  uint64_t mhz = 1000;
  WalkConfig walk;
  PscConfig psc;
};

class WalkFixture {
 public:
  static constexpr ContextTag kTag{1};

  explicit WalkFixture(const WalkFixtureConfig& config)
      : memory{FrameAllocator::Create(config.nodes, uint64_t{64} << 30).value(),
               {}},
        table(PageTable::Create(memory, config.levels, NodeId(0)).value()),
        walker(config.walk, config.mhz),
        psc(config.psc),
        lines(config.walk),
        l3(config.walk.l3, config.walk.data_pressure) {}

  // A writable user page, onto a frame whose number is that of the page.
  void Map(VirtPage page, PageSize size, NodeId node = NodeId(0)) {
    MapLeaf(page,
            Pte::Leaf(FrameNumber(page.value()), size,
                      {.writable = true, .user = true}),
            size, node);
  }
  void MapLeaf(VirtPage page, Pte leaf, PageSize size, NodeId node) {
    LOOKASIDE_CHECK(table.Map(memory, page, size, leaf, node).ok());
  }

  WalkResult Walk(VirtPage page, WalkAccess access = {.user = true}) {
    return walker.Walk({table.root(), table.levels(), kTag, page, access},
                       Resources());
  }
  bool WalkPlain(VirtPage page, WalkAccess access, PlainWalk& walk) {
    return walker.WalkPlain({table.root(), table.levels(), kTag, page, access},
                            Resources(), walk);
  }
  WalkResources Resources() {
    return {psc, lines, l3, memory.tables, memory.frames, NodeId(0)};
  }

  PhysicalMemory memory;
  PageTable table;
  PageWalker walker;
  PagingStructureCaches psc;
  CoreLineCaches lines;
  PageTableLineCache l3;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_PAGETABLE_WALK_FIXTURE_H_
