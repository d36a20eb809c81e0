// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_walker.h"

namespace lookaside {
LoadLatency::LoadLatency(const WalkConfig& config, uint64_t mhz)
    : by_place_{Cycles(config.l1.cycles), Cycles(config.l2.cycles),
                Cycles(config.l3.cycles),
                CyclesFromNs(config.local_memory_ns, mhz),
                CyclesFromNs(config.remote_memory_ns, mhz)} {}

// Accessed and dirty are set in what was loaded, each only where clear.
PageWalker::BitsSet PageWalker::SetBits(const Steps& steps, PagingLevel top,
                                        PagingLevel leaf, bool write,
                                        TableMemory& tables) {
  BitsSet done;
  for (PagingLevel level = top;; level = Below(level)) {
    const Step& step = steps[Index(level)];
    uint64_t wanted = step.bits | Pte::kAccessed;
    if (level == leaf && write) wanted |= Pte::kDirty;
    const uint64_t set = wanted ^ step.bits;
    if (set != 0) {
      if ((set & Pte::kAccessed) != 0) ++done.accessed;
      done.dirty = (set & Pte::kDirty) != 0;
      tables.Write(PhysAddr(step.entry), Pte(wanted));
    }
    if (level == leaf) return done;
  }
}

}  // namespace lookaside
