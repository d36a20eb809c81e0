// SPDX-License-Identifier: Apache-2.0
//
// What operations on a range of an address space share: their locals, the
// steps around their work, and how they call the programs below them.
#ifndef LOOKASIDE_KERNEL_RANGE_STEPS_H_
#define LOOKASIDE_KERNEL_RANGE_STEPS_H_

#include <cstdint>

#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/vma.h"

namespace lookaside {

// Without padding, like all locals.
struct RangeLocals {
  MmId mm = kNoMm;
  uint32_t gather = 0;
  VirtPage first;
  VirtPage end;
  VirtPage next;      // where the work has come to
  VirtPage part_end;  // of the mapping that is worked on
  VmaAttributes attributes{};
  uint32_t error = 0;      // errno
  uint64_t changed = 0;    // entries
  uint64_t argument = 0;   // of the operation
  uint32_t mmap_held = 0;  // the caller holds the mmap lock
  uint32_t flags = 0;      // of the operation
};

// errno values that operations return, negated, as Linux does.
inline constexpr uint32_t kEnomem = 12;
inline constexpr uint32_t kEinval = 22;

struct ZapLocals {
  MmId mm = kNoMm;
  uint32_t gather = 0;
  VirtPage next;
  VirtPage end;
};

struct GatherLocals {
  uint32_t gather = 0;
  uint32_t finish = 0;  // the operation ends with this flush
};

struct SplitLocals {
  MmId mm = kNoMm;
  uint32_t unused = 0;
  VirtPage page;  // any within the large page
};

inline int64_t ResultOf(const RangeLocals& locals) {
  return -static_cast<int64_t>(locals.error);
}

namespace range_steps {

// Frames' locals are RangeLocals.
StepResult LockForWriting(KernelContext& k, StepFrame& frame);
StepResult LockForReading(KernelContext& k, StepFrame& frame);
// Returns the operation's result.
StepResult UnlockAndReturn(KernelContext& k, StepFrame& frame);
StepResult LockPageTable(KernelContext& k, StepFrame& frame);
StepResult UnlockPageTable(KernelContext& k, StepFrame& frame);
// A large page that the range cuts is split first.
StepResult SplitAtFirst(KernelContext& k, StepFrame& frame);
StepResult SplitAtEnd(KernelContext& k, StepFrame& frame);
// Flushes that were put off are done first (deferred_flush.h): of the range up
// to the larger of `end` and `part_end`.
StepResult SettleDeferred(KernelContext& k, StepFrame& frame);
// A gather of the range, announced to other operations on the entries.
StepResult BeginGather(KernelContext& k, StepFrame& frame);
// The same, and others may flush later what it holds, unless a caller that
// holds the mmap lock is about to use the range again.
StepResult BeginDeferrableGather(KernelContext& k, StepFrame& frame);
StepResult Zap(KernelContext& k, StepFrame& frame);
StepResult FinishGather(KernelContext& k, StepFrame& frame);
StepResult EndGather(KernelContext& k, StepFrame& frame);
// A flush that reclaim owes, before anything is concluded from an entry that
// is not present (flush_tlb_batched_pending).
StepResult FlushBatchedPending(KernelContext& k, StepFrame& frame);

}  // namespace range_steps

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_RANGE_STEPS_H_
