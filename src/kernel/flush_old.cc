// SPDX-License-Identifier: Apache-2.0
//
// Flushes and address-space switches before generations: Linux 3.4, 3.6 and
// 3.17 (arch/x86/mm/tlb.c, arch/x86/include/asm/mmu_context.h).
//
// A CPU that leaves a program for a kernel thread keeps the program's table
// loaded, lazily; the first flush that reaches it there takes its bit out of
// the cpumask and loads the kernel's own table.
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/switch_steps.h"

namespace lookaside {
namespace {

using namespace flush_steps;  // NOLINT: the steps of this file's tables

// --- flush_tlb_mm_range, flush_tlb_page ---

StepResult FlushHere(KernelContext& k, StepFrame& frame) {
  const FlushInfo info = PayloadOf(k, frame).info;
  TlbState& tlb = k.tlb();
  if (tlb.loaded_mm != info.mm) return StepResult::Next();
  if (tlb.is_lazy) return k.Call(KernelProgram::kLeaveMm, SwitchLocals{});
  FlushLoaded(k, info, info.all, /*remote=*/false);
  return StepResult::Next();
}

// Vectors are dealt to CPUs in turn; a lock is needed where CPUs share one.
StepResult LockVector(KernelContext& k, StepFrame& frame) {
  FlushPayload& payload = PayloadOf(k, frame);
  if (payload.targets.empty()) return StepResult::Next();
  payload.vector = k.cpu.value() % k.rules().flush_vectors;
  return k.Lock(k.kernel.flush_vectors[payload.vector], true,
                KernelWait::kFlushVector, payload.vector);
}

StepResult UnlockVector(KernelContext& k, StepFrame& frame) {
  const FlushPayload& payload = PayloadOf(k, frame);
  if (!payload.targets.empty()) {
    k.kernel.flush_vectors[payload.vector].Release(k.cpu);
  }
  return StepResult::Next();
}

// --- flush_tlb_func, smp_invalidate_interrupt ---

StepResult CheckMm(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<FlushFuncLocals>();
  TlbState& tlb = k.tlb();
  const MmId mm = locals.info.mm;
  if ((mm == kNoMm || tlb.loaded_mm == mm) && tlb.is_lazy) {
    return k.Call(KernelProgram::kLeaveMm, SwitchLocals{});
  }
  return StepResult::Next();
}

StepResult FlushFunc(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<FlushFuncLocals>();
  const TlbState& tlb = k.tlb();
  const bool concerns = locals.info.mm == kNoMm
                            ? tlb.loaded_mm != kNoMm
                            : tlb.loaded_mm == locals.info.mm;
  if (concerns && !tlb.is_lazy) {
    FlushLoaded(k, locals.info, locals.info.all, locals.remote);
  } else {
    k.flushes().skipped += locals.remote;
  }
  return StepResult::Next();
}

constexpr KernelStep kPrivateStep = {
    .name = "private",
    .text = "abis: if only this CPU may have it: plan, flush here, return",
    .run = &FlushPrivate};
constexpr KernelStep kPlanStep = {
    .name = "plan",
    .text = "the policy chooses single pages or all",
    .run = &Plan};
constexpr KernelStep kFlushHereStep = {
    .name = "flush_here",
    .text =
        "if this CPU runs the address space: INVLPG each page, or reload "
        "CR3; if lazily: leave_mm",
    .run = &FlushHere};
constexpr KernelStep kReadCpumaskStep = {
    .name = "read_cpumask",
    .cell = kCellCpumask,
    .access = StepAccess::kRead,
    .text = "targets: its other CPUs; abis: those that may have it",
    .run = &ReadCpumask};
constexpr KernelStep kDeferStep = {
    .name = "defer",
    .cell = kCellDeferred,
    .access = StepAccess::kWrite,
    .fence = StepFence::kRelease,
    .text =
        "where the policy says so: leave it to the targets' next tick "
        "instead, and let the gather's pages wait",
    .run = &Defer};
constexpr KernelStep kSendStep = {.name = "send",
                                  .cell = kCellCall,
                                  .access = StepAccess::kWrite,
                                  .fence = StepFence::kRelease,
                                  .text = "interrupt the targets",
                                  .run = &Send};
constexpr KernelStep kWaitStep = {
    .name = "wait",
    .cell = kCellAck,
    .access = StepAccess::kRead,
    .fence = StepFence::kAcquire,
    .text = "wait until every target has acknowledged",
    .run = &WaitForAcks};
constexpr KernelStep kFinishStep = {
    .name = "finish", .text = "return", .run = &Finish};

constexpr KernelStep kFlush34[] = {
    kPrivateStep,
    kPlanStep,
    kFlushHereStep,
    kReadCpumaskStep,
    kDeferStep,
    {.name = "lock_vector",
     .cell = kCellVector,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take this CPU's vector of the 32, which others may share",
     .run = &LockVector},
    kSendStep,
    kWaitStep,
    {.name = "unlock_vector",
     .cell = kCellVector,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "give the vector back",
     .run = &UnlockVector},
    kFinishStep};
constexpr KernelStep kFlush36[] = {kPrivateStep,     kPlanStep,  kFlushHereStep,
                                   kReadCpumaskStep, kDeferStep, kSendStep,
                                   kWaitStep,        kFinishStep};
constexpr KernelStep kFunc[] = {
    {.name = "check_mm",
     .cell = kCellLoadedMm,
     .access = StepAccess::kRead,
     .text = "if the address space is loaded lazily: leave_mm",
     .run = &CheckMm},
    {.name = "early_ack",
     .cell = kCellAck,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "acknowledge already, where the policy says so",
     .run = &EarlyAck},
    {.name = "flush",
     .text = "INVLPG each page, or reload CR3",
     .run = &FlushFunc},
    {.name = "ack",
     .cell = kCellAck,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "acknowledge",
     .run = &Ack}};

}  // namespace

const KernelSteps kFlushProgram34 = {
    "flush_tlb_mm_range",
    "3.4: the initiator first, then the others, over one of 32 vectors",
    kFlush34};
const KernelSteps kFlushProgram36 = {
    "flush_tlb_mm_range",
    "3.6: the initiator first, then the others, by call-function interrupts",
    kFlush36};
const KernelSteps kFlushFuncProgram34 = {"flush_tlb_func",
                                         "3.4: what a target does", kFunc};

}  // namespace lookaside
