// SPDX-License-Identifier: Apache-2.0
//
// The ways into the kernel and out of it, the interrupt that runs what other
// CPUs ask for, and the switch between tasks (Linux entry_64.S, kernel/smp.c,
// kernel/sched/core.c).
#include "lookaside/kernel/deferred_steps.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/switch_steps.h"

namespace lookaside {
namespace {

StepResult EnterSyscall(KernelContext& k, StepFrame&) {
  k.Work(k.costs().syscall);
  EnterKernel(k);
  return StepResult::Done();
}

StepResult EnterFault(KernelContext& k, StepFrame&) {
  k.Charge(CostKind::kFault, k.costs().fault_entry);
  EnterKernel(k);
  return StepResult::Done();
}

// Passes on what the operation returned.
StepResult Return(KernelContext& k, StepFrame&) {
  ReturnToUser(k);
  return StepResult::Done(k.returned);
}

// --- interrupt ---

struct InterruptLocals {
  uint64_t returned = 0;   // by what was called last, before
  bool user_mode = false;  // before
  uint8_t unused[7] = {};
};

enum InterruptStep : uint16_t { kEnter, kRunNext, kAgain, kLeave };

StepResult EnterInterrupt(KernelContext& k, StepFrame& frame) {
  frame.As<InterruptLocals>() = {.returned = k.returned,
                                 .user_mode = k.tlb().user_mode};
  k.Charge(CostKind::kInterrupt, k.costs().ipi_handler);
  ++k.flushes().interrupts;
  EnterKernel(k);
  return StepResult::Next();
}

// All that is due runs under one entry.
StepResult RunNext(KernelContext& k, StepFrame&) {
  PendingInterrupts& pending = k.hardware.interrupts(k.cpu);
  if (pending.empty() || pending.next().due > k.hardware.clock(k.cpu)) {
    return StepResult::Jump(kLeave);
  }
  FlushFuncLocals locals;
  locals.payload = pending.Take().payload;
  locals.info = k.kernel.payloads[locals.payload].info;
  locals.remote = true;
  return k.Call(KernelProgram::kFlushTlbFunc, locals);
}

StepResult Again(KernelContext&, StepFrame&) {
  return StepResult::Jump(kRunNext);
}

StepResult LeaveInterrupt(KernelContext& k, StepFrame& frame) {
  k.hardware.SetInterruptsOff(k.cpu, false);
  const auto& locals = frame.As<InterruptLocals>();
  if (locals.user_mode) ReturnToUser(k);
  return StepResult::Done(locals.returned);
}

// --- context switch ---

StepResult SweepFirst(KernelContext& k, StepFrame&) { return CallSweep(k); }

StepResult PickNext(KernelContext& k, StepFrame& frame) {
  const MmId next = frame.As<SwitchLocals>().next;
  TlbState& tlb = k.tlb();
  k.Work(k.costs().context_switch);
  tlb.task_mm = next;
  if (next != kNoMm || k.rules().lazy == LazyMode::kOff) {
    return k.Call(KernelProgram::kSwitchMm, SwitchLocals{.next = next});
  }
  tlb.is_lazy = tlb.loaded_mm != kNoMm;
  return StepResult::Next();
}

StepResult DoneStep(KernelContext&, StepFrame&) { return StepResult::Done(); }

constexpr KernelStep kSyscallSteps[] = {
    {.name = "enter",
     .text = "into the kernel; with page-table isolation, CR3",
     .run = &EnterSyscall}};
constexpr KernelStep kFaultSteps[] = {
    {.name = "enter",
     .text = "into the kernel; with page-table isolation, CR3",
     .run = &EnterFault}};
constexpr KernelStep kReturnSteps[] = {
    {.name = "return",
     .text = "to the program; with page-table isolation, CR3, which flushes "
             "the user half if that is owed",
     .run = &Return}};
constexpr KernelStep kInterruptSteps[] = {
    {.name = "enter",
     .text = "into the handler, interrupts off",
     .run = &EnterInterrupt},
    {.name = "run_next",
     .cell = kCellCall,
     .access = StepAccess::kRead,
     .fence = StepFence::kAcquire,
     .text = "if another call is due: take it and call flush_tlb_func; else "
             "leave",
     .run = &RunNext},
    {.name = "again", .text = "go back to run_next", .run = &Again},
    {.name = "leave",
     .text = "back to what was interrupted",
     .run = &LeaveInterrupt}};
constexpr KernelStep kContextSwitchSteps[] = {
    {.name = "sweep",
     .text = "latr: call sweep_deferred, while the table is still loaded",
     .run = &SweepFirst},
    {.name = "pick_next",
     .cell = kCellIsLazy,
     .access = StepAccess::kWrite,
     .text = "to a program: call switch_mm; to the idle loop: keep its table, "
             "lazily, or leave it",
     .run = &PickNext},
    {.name = "return", .text = "return", .run = &DoneStep}};

}  // namespace

const KernelSteps kSyscallProgram = {"syscall", "entry of a system call",
                                     kSyscallSteps};
const KernelSteps kFaultEntryProgram = {"page_fault", "entry of a page fault",
                                        kFaultSteps};
const KernelSteps kReturnProgram = {"return_to_user", "exit to the program",
                                    kReturnSteps};
const KernelSteps kInterruptProgram = {
    "call_function_interrupt", "what other CPUs asked for", kInterruptSteps};
const KernelSteps kContextSwitchProgram = {
    "context_switch", "another task on this CPU", kContextSwitchSteps};

}  // namespace lookaside
