// SPDX-License-Identifier: Apache-2.0
//
// madvise (Linux mm/madvise.c): DONTNEED, FREE, HUGEPAGE and NOHUGEPAGE.
// COLLAPSE is in collapse_program.cc.
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/entry_holder.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

// What is mapped is advised, holes are reported: Linux's answer to both.
StepResult CheckHoles(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const VmaSet& vmas = k.kernel.mm(locals.mm).vmas;
  if (!vmas.Covers(locals.first, locals.end)) locals.error = kEnomem;
  locals.next = locals.first;
  k.Work(k.costs().vma);
  return StepResult::Next();
}

// Clean, not accessed: reclaim may drop the page until it is written again.
StepResult MarkFree(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const Mm& mm = k.kernel.mm(locals.mm);
  MmuGather& gather = k.kernel.gathers[locals.gather];
  while (const auto entry =
             NextEntry(k.tables(), mm.table, locals.next, locals.end)) {
    locals.next = entry->end();
    k.Work(k.costs().pte);
    if (!entry->pte.present()) continue;
    const FrameTable::Use& use = k.kernel.frames.UseOf(entry->pte.frame());
    if (use.references != 1) continue;  // shared pages are not the caller's
    k.kernel.lazily_freed.insert(k.kernel.frames.HeadOf(entry->pte.frame()));
    // Accessed tells nothing about holders from here on.
    k.hardware.WritePte(
        entry->address,
        WithoutHolder(entry->pte).WithDirty(false).WithAccessed(false));
    gather.Cleared(entry->page, entry->size(), HolderOf(k, entry->pte));
    if (k.split) return StepResult::Again();
  }
  return StepResult::Next();
}

StepResult ChangeAdvice(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const ThpAdvice advice = locals.attributes.advice;
  const std::vector<Vma> changed = k.kernel.mm(locals.mm).vmas.Change(
      locals.first, locals.end, [&](VmaAttributes& a) { a.advice = advice; });
  k.Work(k.costs().vma * changed.size());
  return StepResult::Next();
}

constexpr KernelStep kLockRead = {.name = "lock_mmap",
                                  .cell = kCellMmapLock,
                                  .access = StepAccess::kAtomic,
                                  .fence = StepFence::kAcquire,
                                  .text = "take the mmap lock for reading",
                                  .run = &LockForReading};
constexpr KernelStep kLockWrite = {.name = "lock_mmap",
                                   .cell = kCellMmapLock,
                                   .access = StepAccess::kAtomic,
                                   .fence = StepFence::kAcquire,
                                   .text = "take the mmap lock for writing",
                                   .run = &LockForWriting};
constexpr KernelStep kUnlockStep = {.name = "unlock_mmap",
                                    .cell = kCellMmapLock,
                                    .access = StepAccess::kWrite,
                                    .fence = StepFence::kRelease,
                                    .text = "drop the mmap lock; return",
                                    .run = &UnlockAndReturn};
constexpr KernelStep kCheckStep = {.name = "check",
                                   .cell = kCellVmas,
                                   .access = StepAccess::kRead,
                                   .text = "holes are reported at the end",
                                   .run = &CheckHoles};
constexpr KernelStep kSplitFirstStep = {
    .name = "split_at_first",
    .text = "split a large page that begins before",
    .run = &SplitAtFirst};
constexpr KernelStep kSplitEndStep = {
    .name = "split_at_end",
    .text = "split a large page that ends behind",
    .run = &SplitAtEnd};
constexpr KernelStep kBeginStep = {.name = "begin_gather",
                                   .cell = kCellFlushPending,
                                   .access = StepAccess::kAtomic,
                                   .text = "tlb_flush_pending + 1",
                                   .run = &BeginGather};
constexpr KernelStep kFinishStep = {.name = "finish_gather",
                                    .text = "call tlb_flush_mmu",
                                    .run = &FinishGather};
constexpr KernelStep kEndStep = {.name = "end_gather",
                                 .cell = kCellFlushPending,
                                 .access = StepAccess::kAtomic,
                                 .text = "tlb_flush_pending - 1",
                                 .run = &EndGather};

constexpr KernelStep kZapSteps[] = {
    kLockRead,
    kCheckStep,
    kSplitFirstStep,
    kSplitEndStep,
    {.name = "begin_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "tlb_flush_pending + 1",
     .run = &BeginDeferrableGather},
    {.name = "zap", .text = "call unmap_page_range", .run = &Zap},
    kFinishStep,
    kEndStep,
    kUnlockStep};

constexpr KernelStep kFreeSteps[] = {
    kLockRead,
    kCheckStep,
    kSplitFirstStep,
    kSplitEndStep,
    kBeginStep,
    {.name = "lock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the page-table lock",
     .run = &LockPageTable},
    {.name = "flush_batched_pending",
     .cell = kCellFlushBatched,
     .access = StepAccess::kRead,
     .text = "do the flush that reclaim owes, if any",
     .run = &FlushBatchedPending},
    {.name = "mark_free",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .splittable = true,
     .text = "clear accessed and dirty of pages that nobody else uses",
     .run = &MarkFree},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock",
     .run = &UnlockPageTable},
    kFinishStep,
    kEndStep,
    kUnlockStep};

constexpr KernelStep kAdviceSteps[] = {
    kLockWrite,
    kCheckStep,
    {.name = "change_vmas",
     .cell = kCellVmas,
     .access = StepAccess::kWrite,
     .text = "the mappings' advice, split and merged",
     .run = &ChangeAdvice},
    kUnlockStep};

}  // namespace

const KernelSteps kMadviseZapProgram = {
    "madvise_dontneed", "unmap pages and keep the mapping", kZapSteps};
const KernelSteps kMadviseFreeProgram = {
    "madvise_free", "let reclaim drop pages until they are written again",
    kFreeSteps};
const KernelSteps kMadviseAdviceProgram = {
    "madvise_hugepage", "HUGEPAGE and NOHUGEPAGE: advice to later faults",
    kAdviceSteps};

}  // namespace lookaside
