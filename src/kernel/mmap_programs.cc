// SPDX-License-Identifier: Apache-2.0
//
// mmap and munmap (Linux mm/mmap.c, mm/vma.c).
#include <algorithm>

#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

// --- mmap ---

StepResult UnmapOld(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  if (!k.kernel.mm(locals.mm).vmas.Overlaps(locals.first, locals.end)) {
    return StepResult::Next();
  }
  RangeLocals old;
  old.mm = locals.mm;
  old.first = locals.first;
  old.end = locals.end;
  old.mmap_held = 1;
  return k.Call(KernelProgram::kMunmap, old);
}

StepResult InsertVma(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const Vma vma{locals.first, locals.end, locals.attributes, locals.argument};
  k.kernel.mm(locals.mm).vmas.Map(vma);
  GetObject(k, vma);
  k.Work(k.costs().vma);
  return StepResult::Next();
}

// --- munmap ---

StepResult RemoveVmas(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  VmaSet& vmas = k.kernel.mm(locals.mm).vmas;
  const std::vector<Vma> removed = vmas.Unmap(locals.first, locals.end);
  for (const Vma& vma : removed) {
    PutObject(k, vma);
    locals.flags |= vma.attributes.hugetlb;
    k.Work(k.costs().vma);
  }
  return StepResult::Next();
}

StepResult BeginUnmapGather(KernelContext& k, StepFrame& frame) {
  const StepResult result = BeginDeferrableGather(k, frame);
  const RangeLocals& locals = Locals(frame);
  if (locals.flags != 0) k.kernel.gathers[locals.gather].set_hugetlb();
  return result;
}

// 4.20: other faults go on while the pages are given back.
StepResult Downgrade(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  if (k.rules().concurrent && !locals.mmap_held) {
    k.kernel.mm(locals.mm).mmap_lock.Downgrade(k.cpu);
  }
  return StepResult::Next();
}

// The tables between the mappings on both sides.
StepResult FreePgtables(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const Mm& mm = k.kernel.mm(locals.mm);
  const auto before = mm.vmas.FloorOf(locals.first);
  const auto behind = mm.vmas.CeilingOf(locals.end);
  const uint64_t end =
      behind.value_or(UserEnd(k.hardware.paging_levels())).value();
  MmuGather& gather = k.kernel.gathers[locals.gather];
  for (const UnhookedTable& table : mm.table.CollectEmptyTables(
           k.hardware.memory(), before.value_or(VirtPage(0)),
           VirtPage(end - 1))) {
    gather.AddTable(table);
    k.Work(k.costs().pte);
  }
  return StepResult::Next();
}

constexpr KernelStep kMmapSteps[] = {
    {.name = "lock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the mmap lock for writing",
     .run = &LockForWriting},
    {.name = "settle_deferred",
     .cell = kCellDeferred,
     .access = StepAccess::kRead,
     .text = "latr: do the flushes of the range that were put off",
     .run = &SettleDeferred},
    {.name = "unmap_old",
     .text = "call munmap for what is in the way",
     .run = &UnmapOld},
    {.name = "insert_vma",
     .cell = kCellVmas,
     .access = StepAccess::kWrite,
     .text = "enter the mapping, merged with its like",
     .run = &InsertVma},
    {.name = "unlock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the mmap lock; return",
     .run = &UnlockAndReturn}};

constexpr KernelStep kMunmapSteps[] = {
    {.name = "lock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the mmap lock for writing",
     .run = &LockForWriting},
    {.name = "split_at_first",
     .text = "split a large page that begins before",
     .run = &SplitAtFirst},
    {.name = "split_at_end",
     .text = "split a large page that ends behind",
     .run = &SplitAtEnd},
    {.name = "remove_vmas",
     .cell = kCellVmas,
     .access = StepAccess::kWrite,
     .text = "take the mappings out",
     .run = &RemoveVmas},
    {.name = "begin_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "tlb_flush_pending + 1",
     .run = &BeginUnmapGather},
    {.name = "downgrade",
     .cell = kCellMmapLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kRelease,
     .text = "4.20: hold the mmap lock for reading from here on",
     .run = &Downgrade},
    {.name = "zap", .text = "call unmap_page_range", .run = &Zap},
    {.name = "free_pgtables",
     .cell = kCellTable,
     .access = StepAccess::kWrite,
     .text = "unhook tables that translate nothing any more",
     .run = &FreePgtables},
    {.name = "finish_gather",
     .text = "call tlb_flush_mmu",
     .run = &FinishGather},
    {.name = "end_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "tlb_flush_pending - 1",
     .run = &EndGather},
    {.name = "unlock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the mmap lock; return",
     .run = &UnlockAndReturn}};

}  // namespace

const KernelSteps kMmapProgram = {"mmap", "enter a mapping", kMmapSteps};
const KernelSteps kMunmapProgram = {
    "munmap", "take mappings out, unmap their pages, free what is left",
    kMunmapSteps};

}  // namespace lookaside
