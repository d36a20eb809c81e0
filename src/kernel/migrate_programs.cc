// SPDX-License-Identifier: Apache-2.0
//
// What the kernel does to pages behind a program's back: NUMA hints (Linux
// mm/mempolicy.c change_prot_numa), and migration to another memory node,
// which is compaction too (mm/migrate.c).
//
// Migration takes one page at a time: the entry becomes not present, the page
// is flushed everywhere, and only then copied. Pages that several entries map,
// and large ones, are passed over.
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/entry_holder.h"
#include "lookaside/kernel/page_exchange.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

// --- NUMA hints ---

StepResult Hint(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  MmuGather& gather = k.kernel.gathers[locals.gather];
  const PageTable& table = k.kernel.mm(locals.mm).table;
  while (const auto entry =
             NextEntry(k.tables(), table, locals.next, locals.end)) {
    locals.next = entry->end();
    if (!entry->pte.present()) continue;
    k.Work(k.costs().pte);
    k.hardware.WritePte(entry->address, ProtNone(entry->pte));
    gather.Cleared(entry->page, entry->size(), HolderOf(k, entry->pte));
    if (k.split) return StepResult::Again();
  }
  return StepResult::Next();
}

// --- migration ---

enum MoveStep : uint16_t {
  kMoveLockMmap,
  kMoveNext,
  kMoveLock,
  kMoveClear,
  kMoveFlush,
  kMoveCopy,
  kMoveSet,
  kMoveUnlock,
  kMoveUnlockMmap,
};

NodeId TargetOf(const RangeLocals& locals) {
  return NodeId(static_cast<uint32_t>(locals.argument));
}

StepResult MoveNext(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const FrameAllocator& frames = k.hardware.memory().frames;
  const PageTable& table = k.kernel.mm(locals.mm).table;
  while (const auto entry =
             NextEntry(k.tables(), table, locals.next, locals.end)) {
    locals.next = entry->end();
    if (!IsAlone(k, *entry)) continue;
    if (frames.NodeOf(entry->pte.frame()) == TargetOf(locals)) continue;
    locals.part_end = entry->page;
    return StepResult::Next();
  }
  return StepResult::Jump(kMoveUnlockMmap);
}

// As PROT_NONE for as long as it is on the way (a migration entry). It was
// found before the lock was held, and may have changed.
StepResult MoveClear(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const EntryRef entry = EntryOf(k, locals.mm, locals.part_end);
  k.Work(k.costs().pte);
  if (!IsAlone(k, entry)) return StepResult::Jump(kMoveUnlock);
  k.hardware.WritePte(entry.address, ProtNone(entry.pte));
  return StepResult::Next();
}

StepResult MoveCopy(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const auto page = AllocatePageOn(k, PageSize::k4K, TargetOf(locals));
  if (!page.ok()) return k.Fail(page.status());
  locals.changed = page->value();
  k.Work(k.costs().page_copy);
  return StepResult::Next();
}

StepResult MoveSet(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const FrameNumber page(locals.changed);
  Exchange(k, locals.mm, EntryOf(k, locals.mm, locals.part_end), page, true);
  PutPage(k, page);  // the mapping has one
  return StepResult::Next();
}

StepResult MoveUnlock(KernelContext& k, StepFrame& frame) {
  k.UnlockPageTable(Locals(frame).mm);
  return StepResult::Jump(kMoveNext);
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

constexpr KernelStep kHintSteps[] = {
    kLockMmapStep,
    {.name = "begin_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "tlb_flush_pending + 1",
     .run = &BeginDeferrableGather},
    kLockTableStep,
    {.name = "hint",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .splittable = true,
     .text = "make the entries fault once (PROT_NONE)",
     .run = &Hint},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock",
     .run = &UnlockPageTable},
    {.name = "finish_gather",
     .text = "call tlb_flush_mmu",
     .run = &FinishGather},
    {.name = "end_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "tlb_flush_pending - 1",
     .run = &EndGather},
    kUnlockMmapStep};

constexpr KernelStep kMoveSteps[] = {
    kLockMmapStep,
    {.name = "next",
     .cell = kCellPte,
     .access = StepAccess::kRead,
     .text = "the next page on another node; at the end: unlock_mmap",
     .run = &MoveNext},
    kLockTableStep,
    {.name = "clear",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .text = "make the entry not present",
     .run = &MoveClear},
    {.name = "flush", .text = "flush the page everywhere", .run = &FlushPart},
    {.name = "copy", .text = "to a page of the target node", .run = &MoveCopy},
    {.name = "set",
     .cell = kCellPte,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "enter the copy; free the page",
     .run = &MoveSet},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock; next",
     .run = &MoveUnlock},
    kUnlockMmapStep};
static_assert(std::size(kMoveSteps) == kMoveUnlockMmap + 1);

}  // namespace

const KernelSteps kNumaHintProgram = {
    "numa_hint", "let the next access to each page fault", kHintSteps};
const KernelSteps kMigratePagesProgram = {
    "migrate_pages", "move pages to another memory node", kMoveSteps};

}  // namespace lookaside
