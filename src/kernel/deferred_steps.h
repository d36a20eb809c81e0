// SPDX-License-Identifier: Apache-2.0
//
// Parts of steps about flushes that were put off (deferred_flush.h).
#ifndef LOOKASIDE_KERNEL_DEFERRED_STEPS_H_
#define LOOKASIDE_KERNEL_DEFERRED_STEPS_H_

#include "lookaside/base/address.h"
#include "lookaside/kernel/flush_info.h"
#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/mm_id.h"

namespace lookaside {

// Of sweep_deferred: the note looked at last.
struct SweepLocals {
  uint64_t id = 0;
};

// Of settle_deferred.
struct SettleLocals {
  MmId mm = kNoMm;
  uint32_t unused = 0;
  VirtPage first;
  VirtPage end;
  uint64_t last = 0;  // of the notes that the flush covers
};

// Whether this CPU may leave one more note.
bool HasRoomToDefer(const KernelContext& k);
// Leaves a note to the targets of `payload`, with the pages of its gather.
void DeferFlush(KernelContext& k, const FlushPayload& payload);

// Before anything builds on entries of the range, or gives it out again: does
// the flushes that are owed there.
StepResult CallSettle(KernelContext& k, MmId mm, VirtPage first, VirtPage end);
// Makes good what this CPU owes, while what it leaves is still loaded.
StepResult CallSweep(KernelContext& k);

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_DEFERRED_STEPS_H_
