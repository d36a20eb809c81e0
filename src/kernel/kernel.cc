// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/kernel.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/kernel/deferred_flush.h"
#include "lookaside/kernel/fault_steps.h"
#include "lookaside/kernel/kernel_pages.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/start_operation.h"
#include "lookaside/kernel/switch_steps.h"

namespace lookaside {
namespace {

template <typename T>
T AtOrNone(const std::vector<T>& values, CpuId cpu) {
  return cpu.value() < values.size() ? values[cpu.value()] : T();
}

}  // namespace

Kernel::Kernel(const KernelRules& rules, ThpPolicy thp, bool strict)
    : state_(rules, thp, strict), programs_(ProgramsOf(rules)) {}

void Kernel::SetFlushPolicy(std::unique_ptr<FlushPolicy> policy) {
  state_.policy = FlushPolicyHolder(std::move(policy));
}

absl::StatusOr<MmId> Kernel::CreateMm(BareMetal& hardware, NodeId node) {
  LOOKASIDE_ASSIGN_OR_RETURN(
      const PageTable table,
      PageTable::Create(hardware.memory(), hardware.paging_levels(), node));
  LOOKASIDE_RETURN_IF_ERROR(
      MapKernelPages(state_.rules, hardware.memory(), table, node));
  return MmId(state_.mms.Add(Mm(table, state_.next_ctx_id++)));
}

void Kernel::SwitchTo(BareMetal& hardware, CpuId cpu, MmId id) {
  state_.tlb(cpu).task_mm = id;
  StepStack& stack = hardware.steps(cpu);
  LOOKASIDE_CHECK(stack.empty());
  stack.Push(StepFrame(IdOf(KernelProgram::kReturnToUser)));
  stack.Push(
      StepFrame(IdOf(KernelProgram::kSwitchMm), SwitchLocals{.next = id}));
  // Only the kernel's own table could lack memory, and it is not loaded here.
  LOOKASIDE_CHECK(RunSteps(hardware, cpu).ok());
}

absl::Status Kernel::HandleFault(BareMetal& hardware, CpuId cpu,
                                 const Fault& fault) {
  LOOKASIDE_RETURN_IF_ERROR(StartFault(hardware, cpu, fault));
  const OperationId fault_in = hardware.BeginOperation(cpu, "page_fault");
  LOOKASIDE_RETURN_IF_ERROR(RunSteps(hardware, cpu));
  Promise(hardware, fault_in);
  return absl::OkStatus();
}

absl::Status Kernel::StartFault(BareMetal& hardware, CpuId cpu,
                                const Fault& fault) {
  const MmId mm = running(cpu);
  LOOKASIDE_CHECK(mm != kNoMm);
  if (fault.kind == WalkFault::kNonCanonical) {
    hardware.Charge(cpu, CostKind::kFault, hardware.costs().fault_entry);
    return NotCanonical(hardware, fault);
  }
  FaultLocals locals;
  locals.mm = mm;
  locals.write = fault.access.write;
  locals.fetch = fault.access.fetch;
  locals.address = fault.address;
  StepStack& stack = hardware.steps(cpu);
  stack.Push(StepFrame(IdOf(KernelProgram::kReturnToUser)));
  stack.Push(StepFrame(IdOf(KernelProgram::kFaultIn), locals));
  stack.Push(StepFrame(IdOf(KernelProgram::kFaultEntry)));
  return absl::OkStatus();
}

absl::Status Kernel::NotCanonical(BareMetal& hardware,
                                  const Fault& fault) const {
  const int levels = hardware.paging_levels();
  return InvalidArgument(
      "address {:#x} is not canonical with {} paging levels ({} bits){}",
      fault.address.value(), levels, 12 + 9 * levels,
      levels == 4 ? "; paging.levels = 5 reaches 57 bits" : "");
}

std::optional<int64_t> Kernel::Start(BareMetal& hardware, CpuId cpu,
                                     const Operation& operation) {
  KernelContext context{.kernel = state_, .hardware = hardware, .cpu = cpu};
  const std::optional<StepFrame> frame = FrameOf(context, operation);
  StepStack& stack = hardware.steps(cpu);
  LOOKASIDE_CHECK(stack.empty());
  stack.Push(StepFrame(IdOf(KernelProgram::kReturnToUser)));
  if (frame) stack.Push(*frame);
  if (IsSyscall(operation.kind)) {
    stack.Push(StepFrame(IdOf(KernelProgram::kSyscall)));
  } else {
    EnterKernel(context);
  }
  if (frame && operation.kind != OperationKind::kBrk) return std::nullopt;
  return static_cast<int64_t>(context.returned);
}

absl::StatusOr<int64_t> Kernel::Run(BareMetal& hardware, CpuId cpu,
                                    const Operation& operation) {
  const std::optional<int64_t> told = Start(hardware, cpu, operation);
  const OperationId running =
      hardware.BeginOperation(cpu, Name(operation.kind));
  LOOKASIDE_RETURN_IF_ERROR(RunSteps(hardware, cpu));
  Promise(hardware, running);
  if (operation.kind == OperationKind::kHalt) hardware.Halt(cpu);
  return told.value_or(static_cast<int64_t>(hardware.steps(cpu).returned()));
}

// Relaxed as long as a flush of the operation's is put off.
void Kernel::Promise(BareMetal& hardware, OperationId operation) {
  const bool relaxed =
      std::ranges::find(state_.deferred, operation,
                        &DeferredFlush::operation) != state_.deferred.end();
  hardware.Promise(operation, relaxed);
}

std::optional<Cycles> Kernel::NextTick(CpuId cpu) const {
  std::optional<Cycles> next;
  for (const DeferredFlush& note : state_.deferred) {
    const bool sweeps = note.awaiting.Has(cpu);
    if (!sweeps && note.owner != cpu) continue;
    const Cycles tick = note.TickAfter(sweeps ? 1 : 2, state_.rules.tick);
    if (!next || tick < *next) next = tick;
  }
  return next;
}

void Kernel::StartTick(BareMetal& hardware, CpuId cpu) {
  hardware.steps(cpu).Push(StepFrame(IdOf(KernelProgram::kSchedulerTick)));
}

absl::Status Kernel::TakeTicks(BareMetal& hardware, CpuId cpu) {
  while (!state_.deferred.empty()) {
    const Cycles now = hardware.clock(cpu);
    const std::optional<Cycles> due = NextTick(cpu);
    if (!due || *due > now) return absl::OkStatus();
    LOOKASIDE_RETURN_IF_ERROR(TickOthers(hardware, cpu));
    StartTick(hardware, cpu);
    LOOKASIDE_RETURN_IF_ERROR(RunSteps(hardware, cpu));
  }
  return absl::OkStatus();
}

// Those that a note of this CPU's, whose second tick is due, still awaits.
absl::Status Kernel::TickOthers(BareMetal& hardware, CpuId cpu) {
  for (size_t i = 0; i < state_.deferred.size(); ++i) {
    const DeferredFlush note = state_.deferred[i];
    const Cycles tick = state_.rules.tick;
    if (note.owner != cpu || note.TickAfter(2, tick) > hardware.clock(cpu)) {
      continue;
    }
    absl::Status status;
    note.awaiting.ForEach([&](CpuId other) {
      if (!status.ok()) return;
      hardware.IdleUntil(other, note.TickAfter(1, tick));
      StartTick(hardware, other);
      status = RunSteps(hardware, other);
    });
    LOOKASIDE_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

StackState Kernel::Step(BareMetal& hardware, CpuId cpu) {
  StepStack& stack = hardware.steps(cpu);
  KernelContext context{.kernel = state_, .hardware = hardware, .cpu = cpu};
  context.split = split_;
  context.returned = stack.returned();
  const StackState state =
      RunStep(context, ProgramTable<KernelContext>(programs_), stack);
  if (state == StackState::kFailed) {
    error_ = context.error;
    stack.Clear();
  }
  return state;
}

bool Kernel::TakeInterrupt(BareMetal& hardware, CpuId cpu) {
  StepStack& stack = hardware.steps(cpu);
  if (hardware.interrupts(cpu).empty() || hardware.interrupts_off(cpu)) {
    return false;
  }
  if (stack.waiting() && !stack.waiting()->interrupts_open) return false;
  hardware.IdleUntil(cpu, hardware.interrupts(cpu).next().due);
  hardware.SetInterruptsOff(cpu, true);  // delivery clears RFLAGS.IF
  stack.Push(StepFrame(IdOf(KernelProgram::kInterrupt)));
  return true;
}

bool Kernel::WaitIsOver(BareMetal& hardware, CpuId cpu) const {
  const StepWait wait = *hardware.steps(cpu).waiting();
  switch (static_cast<KernelWait>(wait.what)) {
    case KernelWait::kAcknowledgements:
      return state_.payloads[wait.object].awaiting.empty();
    case KernelWait::kMmapLock:
      return state_.mms[wait.object].mmap_lock.HeldBy(cpu);
    case KernelWait::kPageTableLock:
      return state_.mms[wait.object].page_table_lock.HeldBy(cpu);
    case KernelWait::kFlushVector:
      return state_.flush_vectors[wait.object].HeldBy(cpu);
  }
  return false;
}

void Kernel::WaitUntil(BareMetal& hardware, CpuId cpu, Cycles time) {
  const Cycles now = hardware.clock(cpu);
  if (time <= now) return;
  const bool acknowledgements =
      hardware.steps(cpu).waiting()->what ==
      static_cast<uint16_t>(KernelWait::kAcknowledgements);
  if (acknowledgements) {
    state_.flushes(cpu).wait_cycles += (time - now).value();
  }
  hardware.Charge(cpu,
                  acknowledgements ? CostKind::kFlushWait : CostKind::kLockWait,
                  time - now);
}

absl::Status Kernel::RunSteps(BareMetal& hardware, CpuId cpu) {
  for (;;) {
    switch (Step(hardware, cpu)) {
      case StackState::kReady:
        break;
      case StackState::kEmpty:
        return absl::OkStatus();
      case StackState::kFailed:
        return error_;
      case StackState::kWaiting: {
        // Nothing else is in the middle of an operation: no lock is taken.
        const StepWait wait = *hardware.steps(cpu).waiting();
        LOOKASIDE_CHECK(wait.what ==
                        static_cast<uint16_t>(KernelWait::kAcknowledgements));
        LOOKASIDE_RETURN_IF_ERROR(TakeInterrupts(hardware, wait.object));
      }
    }
  }
}

// Each CPU that the payload waits for takes what is due.
absl::Status Kernel::TakeInterrupts(BareMetal& hardware, uint32_t payload) {
  const CpuSet targets = state_.payloads[payload].awaiting;
  absl::Status status;
  targets.ForEach([&](CpuId target) {
    if (!status.ok()) return;
    LOOKASIDE_CHECK(TakeInterrupt(hardware, target));
    status = RunSteps(hardware, target);
  });
  return status;
}

MmId Kernel::running(CpuId cpu) const {
  return AtOrNone(state_.tlb_states, cpu).task_mm;
}

FaultCounters Kernel::faults(CpuId cpu) const {
  return AtOrNone(state_.fault_counters, cpu);
}

FlushCounters Kernel::flushes(CpuId cpu) const {
  return AtOrNone(state_.flush_counters, cpu);
}

}  // namespace lookaside
