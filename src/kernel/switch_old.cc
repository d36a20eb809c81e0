// SPDX-License-Identifier: Apache-2.0
//
// switch_mm and leave_mm before generations: Linux 3.4 to 3.17
// (arch/x86/include/asm/mmu_context.h, arch/x86/mm/tlb.c). No PCIDs: every
// load of CR3 flushes.
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/switch_steps.h"

namespace lookaside {
namespace {

enum SwitchStep : uint16_t {
  kCompare,
  kSetMask,
  kLoad,
  kClearMask,
  kSameMm,
};

StepResult Compare(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<SwitchLocals>();
  TlbState& tlb = k.tlb();
  BeginSwitch(k, locals);
  tlb.is_lazy = false;
  if (locals.next == tlb.loaded_mm) return StepResult::Jump(kSameMm);
  return StepResult::Next();
}

StepResult SetMask(KernelContext& k, StepFrame& frame) {
  const MmId next = frame.As<SwitchLocals>().next;
  if (next != kNoMm) k.kernel.mm(next).cpumask.Add(k.cpu);
  return StepResult::Next();
}

StepResult Load(KernelContext& k, StepFrame& frame) {
  const absl::Status loaded =
      LoadCr3(k, frame.As<SwitchLocals>().next, 0, /*flush=*/true);
  return loaded.ok() ? StepResult::Next() : k.Fail(loaded);
}

StepResult ClearMask(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SwitchLocals>();
  if (locals.prev != kNoMm) k.kernel.mm(locals.prev).cpumask.Remove(k.cpu);
  SetLoadedMm(k, locals.next);
  return EndSwitch(k, locals);
}

StepResult SameMm(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SwitchLocals>();
  if (locals.next == kNoMm) return EndSwitch(k, locals);
  CpuSet& cpumask = k.kernel.mm(locals.next).cpumask;
  if (cpumask.Has(k.cpu)) return EndSwitch(k, locals);
  cpumask.Add(k.cpu);
  const absl::Status loaded = LoadCr3(k, locals.next, 0, /*flush=*/true);
  return loaded.ok() ? EndSwitch(k, locals) : k.Fail(loaded);
}

StepResult LeaveMask(KernelContext& k, StepFrame&) {
  const MmId mm = k.tlb().loaded_mm;
  if (mm != kNoMm) k.kernel.mm(mm).cpumask.Remove(k.cpu);
  return StepResult::Next();
}

StepResult LoadInit(KernelContext& k, StepFrame&) {
  const absl::Status loaded = LoadCr3(k, kNoMm, 0, /*flush=*/true);
  return loaded.ok() ? StepResult::Done() : k.Fail(loaded);
}

constexpr KernelStep kSwitch[] = {
    {.name = "compare",
     .cell = kCellLoadedMm,
     .access = StepAccess::kWrite,
     .text = "no longer lazy; if that address space is loaded: same_mm",
     .run = &Compare},
    {.name = "set_mask",
     .cell = kCellCpumask,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kFull,
     .text = "into the next one's cpumask",
     .run = &SetMask},
    {.name = "load_cr3", .text = "load its table, which flushes", .run = &Load},
    {.name = "clear_mask",
     .cell = kCellCpumask,
     .access = StepAccess::kAtomic,
     .text = "out of the previous one's cpumask; return",
     .run = &ClearMask},
    {.name = "same_mm",
     .cell = kCellCpumask,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kFull,
     .text = "into its cpumask; if a flush had taken it out, reload CR3",
     .run = &SameMm},
};

constexpr KernelStep kLeave[] = {
    {.name = "clear_mask",
     .cell = kCellCpumask,
     .access = StepAccess::kAtomic,
     .text = "out of the cpumask",
     .run = &LeaveMask},
    {.name = "load_cr3",
     .text = "load the kernel's own table",
     .run = &LoadInit},
};

}  // namespace

const KernelSteps kSwitchMmProgram34 = {
    "switch_mm", "3.4: to another address space, without PCIDs", kSwitch};
const KernelSteps kLeaveMmProgram34 = {
    "leave_mm", "3.4: a lazy CPU gives up the table that it keeps", kLeave};

}  // namespace lookaside
