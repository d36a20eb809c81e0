// SPDX-License-Identifier: Apache-2.0
//
// Same-page merging (Linux mm/ksm.c): of two pages that hold the same, one
// stays, read-only, and both entries map it. Each entry is flushed everywhere
// before the page is taken to be what it was when they were compared. Which
// pages are equal is the caller's to say; large ones, and pages that several
// entries map, are not merged away.
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/page_exchange.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

// --- same-page merging ---

enum MergeStep : uint16_t {
  kMergeLockMmap,
  kMergeNext,
  kMergeLock,
  kProtect,
  kProtectFlush,
  kMergeClear,
  kMergeFlush,
  kMergeSet,
  kMergeUnlock,
  kMergeUnlockMmap,
};

VirtPage TwinOf(const RangeLocals& locals) {
  return VirtPage(locals.argument + locals.part_end.value() -
                  locals.first.value());
}

bool IsPrivate(KernelContext& k, MmId mm, VirtPage page) {
  const Vma* const vma = k.kernel.mm(mm).vmas.Find(page);
  return vma != nullptr && !vma->attributes.shared();
}

// The first of a pair may have been merged before; the second may not.
bool CanMerge(KernelContext& k, MmId mm, VirtPage page, VirtPage twin) {
  const EntryRef kept = EntryOf(k, mm, page);
  const EntryRef gone = EntryOf(k, mm, twin);
  return kept.pte.present() && kept.level == PagingLevel::kPte &&
         k.kernel.frames.UseOf(kept.pte.frame()).size == PageSize::k4K &&
         IsAlone(k, gone) && kept.pte.frame() != gone.pte.frame() &&
         IsPrivate(k, mm, page) && IsPrivate(k, mm, twin);
}

StepResult MergeNext(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  while (locals.next < locals.end) {
    locals.part_end = locals.next;
    locals.next = VirtPage(locals.next.value() + 1);
    if (CanMerge(k, locals.mm, locals.part_end, TwinOf(locals))) {
      return StepResult::Next();
    }
  }
  return StepResult::Jump(kMergeUnlockMmap);
}

StepResult Protect(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const EntryRef entry = EntryOf(k, locals.mm, locals.part_end);
  k.Work(k.costs().pte);
  // Found before the lock was held.
  if (!CanMerge(k, locals.mm, locals.part_end, TwinOf(locals))) {
    return StepResult::Jump(kMergeUnlock);
  }
  if (!entry.pte.writable()) return StepResult::Jump(kMergeClear);
  k.hardware.WritePte(entry.address, entry.pte.WithWritable(false));
  return StepResult::Next();
}

StepResult MergeClear(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const EntryRef entry = EntryOf(k, locals.mm, TwinOf(locals));
  k.Work(k.costs().pte);
  k.hardware.WritePte(entry.address, ProtNone(entry.pte));
  return StepResult::Next();
}

StepResult FlushTwin(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  return CallFlushPage(k, locals.mm, TwinOf(locals));
}

StepResult MergeSet(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const FrameNumber kept = EntryOf(k, locals.mm, locals.part_end).pte.frame();
  Exchange(k, locals.mm, EntryOf(k, locals.mm, TwinOf(locals)), kept, false);
  return StepResult::Next();
}

StepResult MergeUnlock(KernelContext& k, StepFrame& frame) {
  k.UnlockPageTable(Locals(frame).mm);
  return StepResult::Jump(kMergeNext);
}

constexpr KernelStep kLockMmapStep = {.name = "lock_mmap",
                                      .cell = kCellMmapLock,
                                      .access = StepAccess::kAtomic,
                                      .fence = StepFence::kAcquire,
                                      .text = "take the mmap lock for reading",
                                      .run = &LockForReading};
constexpr KernelStep kUnlockMmapStep = {.name = "unlock_mmap",
                                        .cell = kCellMmapLock,
                                        .access = StepAccess::kWrite,
                                        .fence = StepFence::kRelease,
                                        .text = "drop the mmap lock; return",
                                        .run = &UnlockAndReturn};
constexpr KernelStep kLockTableStep = {.name = "lock_table",
                                       .cell = kCellPageTableLock,
                                       .access = StepAccess::kAtomic,
                                       .fence = StepFence::kAcquire,
                                       .text = "take the page-table lock",
                                       .run = &LockPageTable};

constexpr KernelStep kMergeSteps[] = {
    kLockMmapStep,
    {.name = "next",
     .cell = kCellPte,
     .access = StepAccess::kRead,
     .text = "the next pair of equal pages; at the end: unlock_mmap",
     .run = &MergeNext},
    kLockTableStep,
    {.name = "protect",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .text = "the page that stays becomes read-only",
     .run = &Protect},
    {.name = "protect_flush", .text = "flush it everywhere", .run = &FlushPart},
    {.name = "clear",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .text = "the other's entry becomes not present",
     .run = &MergeClear},
    {.name = "flush", .text = "flush it everywhere", .run = &FlushTwin},
    {.name = "set",
     .cell = kCellPte,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "it maps the page that stays, read-only; free the other",
     .run = &MergeSet},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock; next",
     .run = &MergeUnlock},
    kUnlockMmapStep};
static_assert(std::size(kMergeSteps) == kMergeUnlockMmap + 1);

}  // namespace

const KernelSteps kMergePagesProgram = {
    "merge_pages", "map equal pages once, to be copied on write", kMergeSteps};

}  // namespace lookaside
