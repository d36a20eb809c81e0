// SPDX-License-Identifier: Apache-2.0
//
// The physical memory of a machine as page tables see it: which frames are in
// use, and what those that are page tables hold.
//
// Thread-compatible. A value: a copy shares nothing.
#ifndef LOOKASIDE_PAGETABLE_PHYSICAL_MEMORY_H_
#define LOOKASIDE_PAGETABLE_PHYSICAL_MEMORY_H_

#include "lookaside/base/digest.h"
#include "lookaside/pagetable/frame_allocator.h"
#include "lookaside/pagetable/table_memory.h"

namespace lookaside {

struct PhysicalMemory {
  FrameAllocator frames;
  TableMemory tables;

  void AddTo(Digest& digest) const {
    frames.AddTo(digest);
    tables.AddTo(digest);
  }
  friend bool operator==(const PhysicalMemory&,
                         const PhysicalMemory&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_PHYSICAL_MEMORY_H_
