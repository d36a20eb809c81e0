// SPDX-License-Identifier: Apache-2.0
//
// How a flush gets to other CPUs: kernel.remote_flush. A FlushPolicy has said
// what is dropped and when; the version's program, whom it concerns.
//
// - ipi: interrupts to the CPUs of the cpumask that the filter leaves, and
//   acknowledgements. All versions.
// - invlpgb: what Linux 6.15 does on AMD processors that broadcast (Rik van
//   Riel's series). An address space that runs on more than three CPUs, looked
//   at on every 32nd flush by interrupts, gets a global ASID for life; its
//   flushes are INVLPGBs to that ASID's PCIDs, of at most 8 pages each, and a
//   TLBSYNC. Selecting a global ASID never flushes. Until every CPU that runs
//   the program has taken it up, at a switch or when an interrupt reaches it,
//   flushes go both ways. Reclaim drops everything everywhere.
//
// Left out: Linux looks at a random flush of 32, from process id and jiffies;
// broadcasts that are still under way when the next step runs.
//
// Stateless; what it needs is in KernelState.
#ifndef LOOKASIDE_KERNEL_REMOTE_FLUSH_H_
#define LOOKASIDE_KERNEL_REMOTE_FLUSH_H_

#include "lookaside/kernel/flush_info.h"
#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/kernel_rules.h"

namespace lookaside {

class RemoteFlush {
 public:
  virtual ~RemoteFlush() = default;

  // Brings the flush to others without their help: true if that reaches all,
  // this CPU too, and neither the cpumask nor interrupts are needed.
  virtual bool Broadcast(KernelContext& k, const FlushInfo& info) const = 0;
  // The same for all that reclaim has unmapped, of any address space.
  virtual bool BroadcastBatch(KernelContext& k) const = 0;
  // Interrupts were sent for an address space: is there a better way?
  virtual void AfterInterrupts(KernelContext& k, MmId mm) const = 0;
};

const RemoteFlush& RemoteFlushOf(const KernelRules& rules);

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_REMOTE_FLUSH_H_
