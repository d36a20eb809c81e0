// SPDX-License-Identifier: Apache-2.0
//
// mremap (Linux mm/mremap.c): shrink, grow in place, or move the entries to
// another address. Entries move one by one under the page-table lock, and the
// old addresses are flushed before it is dropped (eb66ae030829): nobody finds
// the pages at their new place while an old translation is in use.
//
// Left out: moving whole tables (HAVE_MOVE_PMD), so 97113eb39fa7 has no step
// here; large pages move as such only if both places are aligned alike.
#include "lookaside/kernel/deferred_steps.h"
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

// Of RangeLocals: [first, end) is the old range, `argument` the first page of
// the new one, `part_end` its end; `flags` says MREMAP_DONTUNMAP.

enum MremapStep : uint16_t {
  kLock,
  kSettle,
  kSettleTarget,
  kCheck,
  kShrink,
  kGrow,
  kUnmapTarget,
  kSplitFirst,
  kSplitEnd,
  kSplitAll,
  kSplitAgain,
  kInsertVma,
  kLockTable,
  kPending,
  kMove,
  kFlushLocked,
  kUnlockTable,
  kFlushLate,
  kUnmapOld,
  kUnlock,
};

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

StepResult SettleOld(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  return CallSettle(k, locals.mm, locals.first, locals.end);
}

StepResult SettleTarget(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  return CallSettle(k, locals.mm, VirtPage(locals.argument), locals.part_end);
}

StepResult Check(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const Vma* const vma = k.kernel.mm(locals.mm).vmas.Find(locals.first);
  if (vma == nullptr || vma->end < locals.end) {
    locals.error = kEinval;
    return StepResult::Jump(kUnlock);
  }
  locals.attributes = vma->attributes;
  k.Work(k.costs().vma);
  return StepResult::Next();
}

StepResult Unmap(KernelContext& k, MmId mm, VirtPage first, VirtPage end) {
  RangeLocals part;
  part.mm = mm;
  part.first = first;
  part.end = end;
  part.mmap_held = 1;
  return k.Call(KernelProgram::kMunmap, part);
}

StepResult Shrink(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const uint64_t pages = locals.part_end.value() - locals.argument;
  if (pages >= locals.end.value() - locals.first.value()) {
    return StepResult::Next();
  }
  const VirtPage old_end = locals.end;
  locals.end = VirtPage(locals.first.value() + pages);
  return Unmap(k, locals.mm, locals.end, old_end);
}

void Insert(KernelContext& k, MmId mm, const Vma& vma) {
  k.kernel.mm(mm).vmas.Map(vma);
  GetObject(k, vma);
  k.Work(k.costs().vma);
}

uint64_t OffsetOf(KernelContext& k, const RangeLocals& locals) {
  if (!locals.attributes.shared()) return 0;
  return k.kernel.mm(locals.mm).vmas.Find(locals.first)->OffsetOf(locals.first);
}

StepResult Grow(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  if (locals.argument != locals.first.value()) return StepResult::Next();
  if (locals.part_end > locals.end) {
    const uint64_t offset =
        OffsetOf(k, locals) + locals.end.value() - locals.first.value();
    Insert(k, locals.mm,
           {locals.end, locals.part_end, locals.attributes,
            locals.attributes.shared() ? offset : 0});
  }
  return StepResult::Jump(kUnlock);
}

StepResult UnmapTarget(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const VirtPage first(locals.argument);
  if (!k.kernel.mm(locals.mm).vmas.Overlaps(first, locals.part_end)) {
    return StepResult::Next();
  }
  return Unmap(k, locals.mm, first, locals.part_end);
}

// Splits one large page that cannot move as such, and looks again.
StepResult SplitAll(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const uint64_t distance = locals.argument - locals.first.value();
  const bool alike = distance % PagesIn(PageSize::k2M) == 0;
  if (locals.next < locals.first) locals.next = locals.first;
  const PageTable& table = k.kernel.mm(locals.mm).table;
  while (const auto entry =
             NextEntry(k.tables(), table, locals.next, locals.end)) {
    locals.next = entry->end();
    if (alike || entry->level == PagingLevel::kPte) continue;
    return k.Call(KernelProgram::kSplitHuge,
                  SplitLocals{locals.mm, 0, entry->page});
  }
  locals.next = locals.first;
  return StepResult::Jump(kInsertVma);
}

StepResult SplitAgain(KernelContext&, StepFrame&) {
  return StepResult::Jump(kSplitAll);
}

StepResult InsertVma(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  Insert(k, locals.mm,
         {VirtPage(locals.argument), locals.part_end, locals.attributes,
          OffsetOf(k, locals)});
  return StepResult::Next();
}

absl::Status MoveEntry(KernelContext& k, MmId mm, const EntryRef& entry,
                       VirtPage to) {
  k.Work(k.costs().pte * 2);
  // A present stand-in makes the tables; swap and PROT_NONE entries follow.
  const PageTable& table = k.kernel.mm(mm).table;
  const Pte stand_in =
      Pte(Pte::kPresent |
          (entry.level == PagingLevel::kPde ? Pte::kPageSize : uint64_t{0}));
  const absl::Status mapped = table.Map(k.hardware.memory(), to, entry.size(),
                                        stand_in, k.hardware.NodeOf(k.cpu));
  if (!mapped.ok()) return mapped;
  k.hardware.WritePte(entry.address, Pte());
  k.hardware.WritePte(FindEntry(k.tables(), table, to).address, entry.pte);
  if (!MapsFrame(entry.pte)) return absl::OkStatus();
  FrameTable& frames = k.kernel.frames;
  frames.AddMapping(entry.pte.frame(), {mm, to});
  frames.RemoveMapping(entry.pte.frame(), {mm, entry.page});
  PutPage(k, entry.pte.frame());
  return absl::OkStatus();
}

StepResult Move(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const PageTable& table = k.kernel.mm(locals.mm).table;
  while (const auto entry =
             NextEntry(k.tables(), table, locals.next, locals.end)) {
    locals.next = entry->end();
    const VirtPage to(entry->page.value() - locals.first.value() +
                      locals.argument);
    const absl::Status moved = MoveEntry(k, locals.mm, *entry, to);
    if (!moved.ok()) return k.Fail(moved);
    locals.changed += entry->pte.present();
    if (k.split) return StepResult::Again();
  }
  return StepResult::Next();
}

StepResult Flush(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  if (locals.changed == 0) return StepResult::Next();
  FlushInfo info;
  info.mm = locals.mm;
  info.start = locals.first;
  info.end = locals.end;
  return CallFlush(k, info);
}

StepResult FlushLocked(KernelContext& k, StepFrame& frame) {
  return k.rules().Fixed(KernelFix::kMremapFlushUnderLock) ? Flush(k, frame)
                                                           : StepResult::Next();
}

StepResult FlushLate(KernelContext& k, StepFrame& frame) {
  return k.rules().Fixed(KernelFix::kMremapFlushUnderLock) ? StepResult::Next()
                                                           : Flush(k, frame);
}

StepResult UnmapOld(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  if (locals.flags != 0) return StepResult::Next();
  return Unmap(k, locals.mm, locals.first, locals.end);
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
     .text = "latr: do the flushes of the old range that were put off",
     .run = &SettleOld},
    {.name = "settle_target",
     .cell = kCellDeferred,
     .access = StepAccess::kRead,
     .text = "latr: and those of the new range",
     .run = &SettleTarget},
    {.name = "check",
     .cell = kCellVmas,
     .access = StepAccess::kRead,
     .text = "one mapping must hold the range",
     .run = &Check},
    {.name = "shrink",
     .text = "call munmap for what is cut off",
     .run = &Shrink},
    {.name = "grow",
     .cell = kCellVmas,
     .access = StepAccess::kWrite,
     .text = "if the address stays: extend the mapping; unlock_mmap",
     .run = &Grow},
    {.name = "unmap_target",
     .text = "call munmap for what is in the way",
     .run = &UnmapTarget},
    {.name = "split_at_first",
     .text = "split a large page that begins before",
     .run = &SplitAtFirst},
    {.name = "split_at_end",
     .text = "split a large page that ends behind",
     .run = &SplitAtEnd},
    {.name = "split_all",
     .text = "split every large page, unless both places are aligned alike",
     .run = &SplitAll},
    {.name = "split_again", .text = "go back to split_all", .run = &SplitAgain},
    {.name = "insert_vma",
     .cell = kCellVmas,
     .access = StepAccess::kWrite,
     .text = "enter the mapping at its new place",
     .run = &InsertVma},
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
    {.name = "move",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .splittable = true,
     .text = "clear each entry and set it at its new place",
     .run = &Move},
    {.name = "flush_locked",
     .text = "flush the old range (eb66ae030829: before the lock is dropped)",
     .run = &FlushLocked},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock",
     .run = &UnlockPageTable},
    {.name = "flush_late",
     .text = "flush the old range, where eb66ae030829 is taken out",
     .run = &FlushLate},
    {.name = "unmap_old",
     .text = "call munmap for the old range",
     .run = &UnmapOld},
    {.name = "unlock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the mmap lock; return",
     .run = &UnlockAndReturn}};
static_assert(std::size(kSteps) == kUnlock + 1);

}  // namespace

const KernelSteps kMremapProgram = {"mremap", "shrink, grow or move a mapping",
                                    kSteps};

}  // namespace lookaside
