// SPDX-License-Identifier: Apache-2.0
//
// A flush whose remote part was put off: kernel.flush.policy = "latr", after
// LATR (Kumar et al., ASPLOS 2018, and the Linux 4.10 that its authors
// published, github.com/sslab-gatech/latr).
//
// The initiator flushes itself, leaves this note, and returns without asking
// anyone. Every CPU that is named makes it good at its next scheduler tick, or
// before it switches to another task. The pages that the operation unmapped
// wait with the note; whoever left it frees them at its second tick, by when
// all have swept; it interrupts those that have not.
//
// Only what gives pages up (munmap, MADV_DONTNEED) or wants accesses to fault
// (NUMA hints) is put off. What others may have to see at once still is told
// by interrupts: mprotect, mremap, copy on write, fork, reclaim, migration,
// MADV_FREE (whose clean entries a later reclaim trusts), collapse, and any
// flush that frees page tables. Whoever builds on an entry that a note is
// about, or gives its addresses out again, has the note settled by an ordinary
// flush first: mmap, mremap, mprotect, exit and first touches. LATR keeps such
// addresses from reuse instead; a recording tells where its own kernel put
// things, so here their reuse costs an early flush.
//
// The promise of the operation (C1) is relaxed until the note is retired: uses
// until then are counted `exposed`, stores too, which go to a page that nobody
// else has yet. That is at most two ticks. C2, C3, C4 and C6 hold as ever.
//
// A value: comparable, hashable.
#ifndef LOOKASIDE_KERNEL_DEFERRED_FLUSH_H_
#define LOOKASIDE_KERNEL_DEFERRED_FLUSH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/flush_info.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/machine/stale_entries.h"

namespace lookaside {

// Of one CPU at a time; with more, interrupts are sent (LAZY_TLB_NUM_ENTRIES
// of the published code; the paper has 64).
inline constexpr size_t kMostDeferred = 256;

struct DeferredFlush {
  uint64_t id = 0;  // ascending, never used twice
  FlushInfo info;
  CpuId owner;  // who left it
  // The latest clock among the owner's and those of whom it concerns.
  Cycles saved;
  OperationId operation;           // whose promise is relaxed
  CpuSet awaiting;                 // who has not swept it
  std::vector<FrameNumber> pages;  // a reference each

  // Of the range, whether it was all or page by page that was planned.
  bool Overlaps(MmId mm, VirtPage first, VirtPage end) const {
    return info.mm == mm && info.start < end && first < info.end;
  }
  // The `number`th tick after it was left; `tick` apart.
  Cycles TickAfter(uint64_t number, Cycles tick) const {
    return tick * (saved.value() / tick.value() + number);
  }

  // Numbers that only name are no state.
  void AddTo(Digest& digest) const {
    info.AddTo(digest);
    digest.Add(owner);
    digest.Add(saved);
    awaiting.AddTo(digest);
    digest.Add(pages.size());
    for (const FrameNumber page : pages) digest.Add(page);
  }
  friend bool operator==(const DeferredFlush&, const DeferredFlush&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_DEFERRED_FLUSH_H_
