// SPDX-License-Identifier: Apache-2.0
//
// Threads and the end of address spaces (Linux kernel/exit.c, exit_mm;
// mm/mmap.c, exit_mmap).
#include "lookaside/base/check.h"
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"
#include "lookaside/kernel/switch_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

// --- exit, thread creation ---

StepResult AddUser(KernelContext& k, StepFrame& frame) {
  ++k.kernel.mm(Locals(frame).mm).users;
  k.Work(k.costs().vma);
  return StepResult::Done();
}

StepResult ExitMm(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  TlbState& tlb = k.tlb();
  if (locals.flags != 0 || tlb.task_mm != locals.mm) return StepResult::Next();
  tlb.task_mm = kNoMm;
  if (k.rules().lazy == LazyMode::kOff) {
    return k.Call(KernelProgram::kSwitchMm, SwitchLocals{});
  }
  tlb.is_lazy = true;
  return StepResult::Next();
}

StepResult DropUser(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  if (--k.kernel.mm(locals.mm).users != 0) return StepResult::Done();
  RangeLocals all;
  all.mm = locals.mm;
  all.end = UserEnd(k.hardware.paging_levels());
  return k.Call(KernelProgram::kExitMmap, all);
}

StepResult Return(KernelContext&, StepFrame&) { return StepResult::Done(); }

// --- exit_mmap ---

StepResult BeginFullGather(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  locals.gather = k.kernel.gathers.Add(
      MmuGather(locals.mm, locals.first, locals.end, /*fullmm=*/true));
  ++k.kernel.mm(locals.mm).tlb_flush_pending;
  return StepResult::Next();
}

StepResult RemoveAllVmas(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  for (const Vma& vma :
       k.kernel.mm(locals.mm).vmas.Unmap(locals.first, locals.end)) {
    PutObject(k, vma);
    k.Work(k.costs().vma);
  }
  return StepResult::Next();
}

StepResult UnhookTables(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  MmuGather& gather = k.kernel.gathers[locals.gather];
  for (const UnhookedTable& table :
       k.kernel.mm(locals.mm).table.CollectEmptyTables(
           k.hardware.memory(), locals.first,
           VirtPage(locals.end.value() - 1))) {
    gather.AddTable(table);
    k.Work(k.costs().pte);
  }
  return StepResult::Next();
}

StepResult DropRoot(KernelContext& k, StepFrame& frame) {
  MarkDead(k, Locals(frame).mm);
  return StepResult::Done();
}

constexpr KernelStep kClone[] = {{.name = "add_user",
                                  .cell = kCellUsers,
                                  .access = StepAccess::kAtomic,
                                  .text = "one more thread",
                                  .run = &AddUser}};

constexpr KernelStep kExit[] = {
    {.name = "exit_mm",
     .cell = kCellIsLazy,
     .access = StepAccess::kWrite,
     .text = "the thread's CPU keeps the table lazily, or leaves it",
     .run = &ExitMm},
    {.name = "drop_user",
     .cell = kCellUsers,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kFull,
     .text = "one thread less; the last one calls exit_mmap",
     .run = &DropUser},
    {.name = "return", .text = "return", .run = &Return}};

constexpr KernelStep kExitMmap[] = {
    {.name = "settle_deferred",
     .cell = kCellDeferred,
     .access = StepAccess::kRead,
     .text = "latr: do the flushes of the range that were put off",
     .run = &SettleDeferred},
    {.name = "begin_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "a gather of everything",
     .run = &BeginFullGather},
    {.name = "zap", .text = "call unmap_page_range", .run = &Zap},
    {.name = "remove_vmas",
     .cell = kCellVmas,
     .access = StepAccess::kWrite,
     .text = "take every mapping out",
     .run = &RemoveAllVmas},
    {.name = "free_pgtables",
     .cell = kCellTable,
     .access = StepAccess::kWrite,
     .text = "unhook every table but the root",
     .run = &UnhookTables},
    {.name = "finish_gather",
     .text = "call tlb_flush_mmu",
     .run = &FinishGather},
    {.name = "end_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "tlb_flush_pending - 1",
     .run = &EndGather},
    {.name = "drop_root",
     .text = "the root goes when no CPU has it loaded; return",
     .run = &DropRoot}};

}  // namespace

const KernelSteps kCloneThreadProgram = {
    "clone_thread", "another thread of the address space", kClone};
const KernelSteps kExitProgram = {"exit", "the end of a thread", kExit};
const KernelSteps kExitMmapProgram = {"exit_mmap",
                                      "the end of an address space", kExitMmap};

}  // namespace lookaside
