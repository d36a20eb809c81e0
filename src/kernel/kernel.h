// SPDX-License-Identifier: Apache-2.0
//
// The kernel: address spaces, what programs ask of them, and what happens when
// a page is touched that is not there. What it does is in its programs of
// steps (kernel/programs.h, printed in docs/kernel_ops.md); here is the driver
// that runs them in recorded order.
//
// Recorded order: the record says what happened before what, so an operation
// runs to its end before anything else does. The CPUs that it interrupts are
// first idled forward to the time at which the interrupt is due; each runs its
// handler, and the initiator waits for the latest acknowledgement. Locks are
// always free then, and no race can show.
//
// A copyable value: it refers to nothing, and is given the hardware.
//
//   Kernel kernel(rules, ThpPolicy::kNever);
//   BareMetal hardware(machine);
//   MmId mm = kernel.CreateMm(hardware, NodeId(0)).value();
//   kernel.SwitchTo(hardware, CpuId(0), mm);
//   absl::Status status = kernel.HandleFault(hardware, CpuId(0), fault);
//   absl::StatusOr<int64_t> result = kernel.Run(hardware, CpuId(0), operation);
#ifndef LOOKASIDE_KERNEL_KERNEL_H_
#define LOOKASIDE_KERNEL_KERNEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/bare_metal.h"
#include "lookaside/kernel/fault_counters.h"
#include "lookaside/kernel/flush_counters.h"
#include "lookaside/kernel/flush_policy.h"
#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/kernel_rules.h"
#include "lookaside/kernel/kernel_state.h"
#include "lookaside/kernel/mm.h"
#include "lookaside/kernel/operation.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/machine/fault.h"
#include "lookaside/machine/stale_entries.h"
#include "lookaside/pagetable/walk_config.h"

namespace lookaside {

class Kernel {
 public:
  // `strict`: a touch outside every known mapping is an error.
  explicit Kernel(const KernelRules& rules, ThpPolicy thp, bool strict = false);

  // A policy of the user's own.
  void SetFlushPolicy(std::unique_ptr<FlushPolicy> policy);

  // What the future is asked for by kernel.flush.policy = clairvoyant; empty:
  // everything is used again. Copies must be told anew.
  void SetForesight(std::function<bool(CpuId, VirtPage, PageSize)> used_again) {
    state_.used_again = std::move(used_again);
  }

  // An address space without pages, its root on `node`. ResourceExhausted if
  // there is no memory.
  absl::StatusOr<MmId> CreateMm(BareMetal& hardware, NodeId node);
  const Mm& mm(MmId id) const { return state_.mm(id); }

  // Runs `mm` on `cpu` from now on, as if it always had: without the cost of
  // a scheduler. What a program does is Run's `kSwitch`.
  void SwitchTo(BareMetal& hardware, CpuId cpu, MmId mm);

  // Makes the access that faulted possible. An error says why it cannot be:
  // the address is not canonical or, where that is strict, outside every
  // mapping, or memory has run out.
  // REQUIRES: a program runs on `cpu`.
  absl::Status HandleFault(BareMetal& hardware, CpuId cpu, const Fault& fault);

  // Runs an operation to its end. What it returns is what the system call
  // would: negative for an error of the program. The status is for what ends
  // the simulation, such as memory that has run out.
  // REQUIRES: a program runs on `cpu`, or the operation needs none.
  absl::StatusOr<int64_t> Run(BareMetal& hardware, CpuId cpu,
                              const Operation& operation);

  // When `cpu` next has something to do at a scheduler tick; nothing if at
  // none, so that ticks cost no time where no policy needs them. It may have
  // passed: then the tick is due.
  std::optional<Cycles> NextTick(CpuId cpu) const;
  // Lets `cpu` take the ticks that are due by its clock, in recorded order:
  // CPUs that idle in the record have ticked meanwhile too.
  // REQUIRES: `cpu` is in the middle of nothing.
  absl::Status TakeTicks(BareMetal& hardware, CpuId cpu);

  // One step at a time, for drivers that interleave CPUs. Start pushes the
  // operation's frames, and returns its result where there is nothing to do
  // but to enter and leave the kernel. Step runs the next step of `cpu`; after
  // kFailed, error() says why. TakeInterrupt begins the handler of what is
  // pending, on top of whatever `cpu` is in the middle of; false if it cannot
  // be interrupted now. Time is the driver's to see to.
  // REQUIRES of Start: `cpu` is in the middle of nothing. Of Step: it is not.
  std::optional<int64_t> Start(BareMetal& hardware, CpuId cpu,
                               const Operation& operation);
  // The handler of a fault, in the same way. Errors are HandleFault's.
  absl::Status StartFault(BareMetal& hardware, CpuId cpu, const Fault& fault);
  StackState Step(BareMetal& hardware, CpuId cpu);
  bool TakeInterrupt(BareMetal& hardware, CpuId cpu);
  // Likewise its scheduler tick. REQUIRES: interrupts are on.
  void StartTick(BareMetal& hardware, CpuId cpu);
  // The operation has returned to its caller.
  void Promise(BareMetal& hardware, OperationId operation);
  // Whether the step that waits on `cpu` would go on now.
  // REQUIRES: the stack of `cpu` waits.
  bool WaitIsOver(BareMetal& hardware, CpuId cpu) const;
  // Moves the clock of a waiting `cpu` on to `time`, if that is ahead, and
  // charges what it waits for. REQUIRES: the stack of `cpu` waits.
  void WaitUntil(BareMetal& hardware, CpuId cpu, Cycles time);
  const absl::Status& error() const { return error_; }

  FaultCounters faults(CpuId cpu) const;
  FlushCounters flushes(CpuId cpu) const;
  uint64_t tables_freed() const { return state_.tables_freed; }
  const UnknownMappings& unknown_mappings() const { return state_.unknown; }

  const KernelState& state() const { return state_; }
  // Which address space the program on `cpu` has; kNoMm: none runs.
  MmId running(CpuId cpu) const;

  // Range steps do one entry at a time: the same results, in more steps.
  void set_split(bool split) { split_ = split; }

  // Counters are results, not state.
  void AddTo(Digest& digest) const { state_.AddTo(digest); }

 private:
  absl::Status RunSteps(BareMetal& hardware, CpuId cpu);
  absl::Status TakeInterrupts(BareMetal& hardware, uint32_t payload);
  absl::Status TickOthers(BareMetal& hardware, CpuId cpu);
  absl::Status NotCanonical(BareMetal& hardware, const Fault& fault) const;

  KernelState state_;
  KernelPrograms programs_;
  bool split_ = false;
  absl::Status error_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_KERNEL_H_
