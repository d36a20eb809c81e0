// SPDX-License-Identifier: Apache-2.0
//
// mprotect (Linux mm/mprotect.c): mapping by mapping, the attributes and then
// the entries. Until 5.18 each mapping is flushed as a whole; since 5.19 a
// gather flushes once, and only where old copies would allow too much.
//
// A private page that becomes writable stays read-only in its entry, so that
// the first write asks whether it is shared; since 6.0 one that has no other
// user becomes writable at once.
#include <algorithm>

#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/entry_holder.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

enum MprotectStep : uint16_t {
  kLock,
  kSettle,
  kBeginGather,
  kNextVma,
  kSplitFirst,
  kSplitEnd,
  kChangeVma,
  kLockTable,
  kPending,
  kChange,
  kUnlockTable,
  kFlushPart,
  kAgain,
  kFinishGather,
  kEndGather,
  kUnlock,
};

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

StepResult NextVma(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  if (locals.first >= locals.part_end) return StepResult::Jump(kFinishGather);
  const Vma* const vma = k.kernel.mm(locals.mm).vmas.Find(locals.first);
  if (vma == nullptr) {
    locals.error = kEnomem;
    return StepResult::Jump(kFinishGather);
  }
  locals.end = std::min(vma->end, locals.part_end);
  locals.next = locals.first;
  locals.changed = 0;
  return StepResult::Next();
}

StepResult ChangeVma(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const Protection protection = locals.attributes.protection;
  k.kernel.mm(locals.mm).vmas.Change(
      locals.first, locals.end,
      [&](VmaAttributes& a) { a.protection = protection; });
  k.Work(k.costs().vma);
  return StepResult::Next();
}

bool MayWriteAtOnce(KernelContext& k, const Vma& vma, Pte pte) {
  if (vma.attributes.shared()) return pte.dirty();
  return k.rules().mprotect_skips_widening &&
         k.kernel.frames.UseOf(pte.frame()).references == 1;
}

Pte Changed(KernelContext& k, const Vma& vma, Pte pte) {
  const Protection& protection = vma.attributes.protection;
  if (IsProtNone(pte)) pte = FromProtNone(pte);
  const bool was_writable = pte.writable();
  Pte changed = pte.WithPermissions(PermissionsOf(protection));
  if (protection.write && !was_writable && !MayWriteAtOnce(k, vma, pte)) {
    changed = changed.WithWritable(false);
  }
  return protection.none() ? ProtNone(changed) : changed;
}

// Whether a copy of `before` allows what `after` does not (pte_needs_flush).
bool NeedsFlush(Pte before, Pte after) {
  if (!before.present()) return false;
  if (!after.present()) return true;
  return (before.writable() && !after.writable()) ||
         (!before.nx() && after.nx()) || before.frame() != after.frame();
}

StepResult Change(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const Mm& mm = k.kernel.mm(locals.mm);
  MmuGather& gather = k.kernel.gathers[locals.gather];
  const Vma& vma = *mm.vmas.Find(locals.first);
  while (const auto entry =
             NextEntry(k.tables(), mm.table, locals.next, locals.end)) {
    locals.next = entry->end();
    if (!MapsFrame(entry->pte)) continue;
    const Pte changed = Changed(k, vma, entry->pte);
    k.Work(k.costs().pte);
    ++locals.changed;
    if (changed != entry->pte) k.hardware.WritePte(entry->address, changed);
    if (NeedsFlush(entry->pte, changed)) {
      gather.Cleared(entry->page, entry->size(), HolderOf(k, entry->pte));
    }
    if (k.split) return StepResult::Again();
  }
  return StepResult::Next();
}

StepResult FlushPart(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const KernelRules& rules = k.rules();
  if (rules.mprotect_skips_widening) return StepResult::Next();
  k.kernel.gathers[locals.gather].Reset();  // not the gather's to flush
  if (rules.flushes_only_changes && locals.changed == 0) {
    return StepResult::Next();
  }
  const VmaAttributes& attributes =
      k.kernel.mm(locals.mm).vmas.Find(locals.first)->attributes;
  FlushInfo info;
  info.mm = locals.mm;
  info.start = locals.first;
  info.end = locals.end;
  if (attributes.protection.exec) info.vm_flags |= FlushInfo::kExec;
  if (attributes.hugetlb != 0) info.vm_flags |= FlushInfo::kHugetlb;
  if (rules.concurrent) {
    info.vm_flags = 0;
    const PageSize size =
        attributes.hugetlb != 0 ? PageSize::k2M : PageSize::k4K;
    info.stride_order = static_cast<uint8_t>(PageOrder(size));
  }
  return CallFlush(k, info);
}

StepResult FinishOnce(KernelContext& k, StepFrame& frame) {
  return k.rules().mprotect_skips_widening ? FinishGather(k, frame)
                                           : StepResult::Next();
}

StepResult Again(KernelContext&, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  locals.first = locals.end;
  return StepResult::Jump(kNextVma);
}

constexpr KernelStep kSteps[] = {
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
    {.name = "begin_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "tlb_flush_pending + 1",
     .run = &BeginGather},
    {.name = "next_vma",
     .cell = kCellVmas,
     .access = StepAccess::kRead,
     .text = "the next mapping; at the end or at a hole: finish_gather",
     .run = &NextVma},
    {.name = "split_at_first",
     .text = "split a large page that begins before",
     .run = &SplitAtFirst},
    {.name = "split_at_end",
     .text = "split a large page that ends behind",
     .run = &SplitAtEnd},
    {.name = "change_vma",
     .cell = kCellVmas,
     .access = StepAccess::kWrite,
     .text = "its protection, split and merged",
     .run = &ChangeVma},
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
    {.name = "change",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .splittable = true,
     .text = "the entries' permissions",
     .run = &Change},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock",
     .run = &UnlockPageTable},
    {.name = "flush",
     .text = "until 5.18: flush the mapping's range",
     .run = &FlushPart},
    {.name = "again", .text = "go on with next_vma", .run = &Again},
    {.name = "finish_gather",
     .text = "since 5.19: call tlb_flush_mmu",
     .run = &FinishOnce},
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
static_assert(std::size(kSteps) == kUnlock + 1);

}  // namespace

const KernelSteps kMprotectProgram = {
    "mprotect", "give mappings and their entries another protection", kSteps};

}  // namespace lookaside
