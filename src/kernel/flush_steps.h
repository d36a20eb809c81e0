// SPDX-License-Identifier: Apache-2.0
//
// Steps that the flush programs of all versions share, and how a program asks
// for a flush.
#ifndef LOOKASIDE_KERNEL_FLUSH_STEPS_H_
#define LOOKASIDE_KERNEL_FLUSH_STEPS_H_

#include <cstdint>

#include "lookaside/kernel/flush_info.h"
#include "lookaside/kernel/kernel_context.h"

namespace lookaside {

// Of the initiator's program. The payload holds the rest.
struct FlushLocals {
  uint32_t payload = 0;
  uint32_t next = 0;  // of a split filter: the CPU to look at next
};

// Of flush_tlb_func, on the initiator itself or on a target.
struct FlushFuncLocals {
  FlushInfo info;
  uint64_t mm_gen = 0;  // as read
  uint32_t payload = 0;
  bool remote = false;
  bool acknowledged = false;
  uint8_t unused[2] = {};
};

// A frame that flushes what `info` says and returns when no CPU can use what
// it was about.
StepResult CallFlush(KernelContext& k, const FlushInfo& info);
// The same for what a gather has cleared: it knows who may have it and whether
// others may flush later; then its pages wait for them.
StepResult CallFlushOfGather(KernelContext& k, const FlushInfo& info,
                             uint32_t gather);
// One page of `mm` (flush_tlb_page).
StepResult CallFlushPage(KernelContext& k, MmId mm, VirtPage page);

FlushPayload& PayloadOf(KernelContext& k, const StepFrame& frame);

namespace flush_steps {

// Decides what is flushed (FlushPolicy), and counts the request.
StepResult Plan(KernelContext& k, StepFrame& frame);
// Flushes here and is done, if only this CPU may have it.
StepResult FlushPrivate(KernelContext& k, StepFrame& frame);
// Targets: the other CPUs of the cpumask that may have it.
StepResult ReadCpumask(KernelContext& k, StepFrame& frame);
// Leaves the targets a note, where the plan says so.
StepResult Defer(KernelContext& k, StepFrame& frame);
// Sends interrupts to whom the filter left.
StepResult Send(KernelContext& k, StepFrame& frame);
StepResult WaitForAcks(KernelContext& k, StepFrame& frame);
StepResult Finish(KernelContext& k, StepFrame& frame);
// Of flush_tlb_func.
StepResult EarlyAck(KernelContext& k, StepFrame& frame);
StepResult Ack(KernelContext& k, StepFrame& frame);

}  // namespace flush_steps

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FLUSH_STEPS_H_
