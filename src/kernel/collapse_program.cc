// SPDX-License-Identifier: Apache-2.0
//
// Collapsing 512 pages into a large one: MADV_COLLAPSE and khugepaged (Linux
// mm/khugepaged.c, collapse_huge_page). The table is unhooked and flushed
// before the pages are copied, so that none changes meanwhile; the large entry
// takes the table's place.
//
// Only ranges whose pages nobody else uses, and none of which is in swap
// space, are collapsed; what was not mapped becomes zero.
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

enum CollapseStep : uint16_t {
  kLock,
  kBeginGather,
  kNextRange,
  kLockTable,
  kUnhook,
  kFlush,
  kCopy,
  kHook,
  kUnlockTable,
  kFree,
  kAgain,
  kEndGather,
  kUnlock,
};

constexpr uint64_t kLargePages = PagesIn(PageSize::k2M);

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

// The table of PTEs for the 2M at `page`, if there is one: its entry one level
// up.
std::optional<EntryRef> TableEntry(KernelContext& k, MmId mm, VirtPage page) {
  const EntryRef entry = FindEntry(k.tables(), k.kernel.mm(mm).table, page);
  if (entry.level != PagingLevel::kPte) return std::nullopt;
  const FrameNumber table(entry.address.value() >> kPageShift);
  FrameNumber above = k.kernel.mm(mm).table.root();
  PagingLevel level = k.kernel.mm(mm).table.top();
  for (;; level = Below(level)) {
    const PhysAddr address = EntryAddress(above, EntryIndex(page, level));
    const Pte pte = k.tables().Read(address);
    if (pte.frame() == table) return EntryRef{address, pte, level, page};
    above = pte.frame();
  }
}

bool CanCollapse(KernelContext& k, const RangeLocals& locals) {
  const Mm& mm = k.kernel.mm(locals.mm);
  const VirtPage end(locals.next.value() + kLargePages);
  const Vma* const vma = mm.vmas.Find(locals.next);
  if (vma == nullptr || vma->end < end || vma->attributes.shared()) {
    return false;
  }
  if (!TableEntry(k, locals.mm, locals.next)) return false;
  bool any = false;
  VirtPage page = locals.next;
  while (const auto entry = NextEntry(k.tables(), mm.table, page, end)) {
    page = entry->end();
    any = true;
    if (!entry->pte.present() ||
        k.kernel.frames.UseOf(entry->pte.frame()).references != 1) {
      return false;
    }
  }
  return any;
}

StepResult NextRange(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const uint64_t aligned =
      (locals.next.value() + kLargePages - 1) / kLargePages * kLargePages;
  locals.next = VirtPage(aligned);
  for (; locals.next.value() + kLargePages <= locals.end.value();
       locals.next = VirtPage(locals.next.value() + kLargePages)) {
    k.Work(k.costs().pte);
    if (CanCollapse(k, locals)) return StepResult::Next();
  }
  return StepResult::Jump(kEndGather);
}

StepResult Unhook(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  MmuGather& gather = k.kernel.gathers[locals.gather];
  const EntryRef above = *TableEntry(k, locals.mm, locals.next);
  const FrameNumber table = above.pte.frame();
  k.hardware.WritePte(above.address, Pte());
  locals.changed = 0;
  for (unsigned i = 0; i < kEntriesPerTable; ++i) {
    const Pte pte = k.tables().Read(EntryAddress(table, i));
    if (pte.none()) continue;
    const VirtPage page(locals.next.value() + i);
    k.kernel.frames.RemoveMapping(pte.frame(), {locals.mm, page});
    gather.AddPage(pte.frame());
    ++locals.changed;
  }
  gather.AddTable({table, PagingLevel::kPte, locals.next,
                   k.hardware.memory().frames.NodeOf(table)});
  return StepResult::Next();
}

StepResult Flush(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  FlushInfo info;
  info.mm = locals.mm;
  info.start = locals.next;
  info.end = VirtPage(locals.next.value() + kLargePages);
  info.freed_tables = true;
  return CallFlush(k, info);
}

StepResult Copy(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const auto page = AllocatePage(k, PageSize::k2M);
  if (!page.ok()) return k.Fail(page.status());
  locals.argument = page->value();
  k.Work(k.costs().page_copy * locals.changed);
  return StepResult::Next();
}

StepResult Hook(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  const Vma& vma = *k.kernel.mm(locals.mm).vmas.Find(locals.next);
  const FrameNumber page(locals.argument);
  const Pte leaf =
      Pte::Leaf(page, PageSize::k2M, PermissionsOf(vma.attributes.protection))
          .WithAccessed(true)
          .WithDirty(true);
  const absl::Status entered =
      EnterLeaf(k, locals.mm, locals.next, PageSize::k2M, leaf);
  if (!entered.ok()) return k.Fail(entered);
  PutPage(k, page);  // the mapping has one
  k.kernel.gathers[locals.gather].Reset();
  return StepResult::Next();
}

StepResult Free(KernelContext& k, StepFrame& frame) {
  return k.Call(KernelProgram::kTlbFlushMmu,
                GatherLocals{Locals(frame).gather, 0});
}

StepResult Again(KernelContext&, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  locals.next = VirtPage(locals.next.value() + kLargePages);
  return StepResult::Jump(kNextRange);
}

constexpr KernelStep kSteps[] = {
    {.name = "lock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the mmap lock for writing",
     .run = &LockForWriting},
    {.name = "begin_gather",
     .cell = kCellFlushPending,
     .access = StepAccess::kAtomic,
     .text = "tlb_flush_pending + 1",
     .run = &BeginGather},
    {.name = "next_range",
     .cell = kCellPte,
     .access = StepAccess::kRead,
     .text = "the next 2M that can be collapsed; at the end: end_gather",
     .run = &NextRange},
    {.name = "lock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the page-table lock",
     .run = &LockPageTable},
    {.name = "unhook",
     .cell = kCellTable,
     .access = StepAccess::kWrite,
     .text = "unhook the table",
     .run = &Unhook},
    {.name = "flush", .text = "flush the 2M, tables too", .run = &Flush},
    {.name = "copy", .text = "allocate a large page and copy", .run = &Copy},
    {.name = "hook",
     .cell = kCellTable,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "enter it in the table's place",
     .run = &Hook},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock",
     .run = &UnlockPageTable},
    {.name = "free", .text = "free the old pages and the table", .run = &Free},
    {.name = "again", .text = "go on with next_range", .run = &Again},
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

const KernelSteps kCollapseProgram = {
    "madvise_collapse", "map 512 pages as one large page", kSteps};

}  // namespace lookaside
