// SPDX-License-Identifier: Apache-2.0
//
// Unmapping through a gather: zap_pte_range and tlb_flush_mmu (Linux
// mm/memory.c, mm/mmu_gather.c). Also the split of a large page.
#include "lookaside/base/check.h"
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/entry_use.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

// --- zap ---

enum ZapStep : uint16_t {
  kZapLock,
  kZapPending,
  kZapClear,
  kZapUnlock,
  kZapFlush,
  kZapAgain
};

StepResult ZapLock(KernelContext& k, StepFrame& frame) {
  return k.LockPageTable(frame.As<ZapLocals>().mm);
}

StepResult ZapPending(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<ZapLocals>();
  Mm& mm = k.kernel.mm(locals.mm);
  if (!mm.tlb_flush_batched ||
      !k.rules().Fixed(KernelFix::kBatchedFlushPending)) {
    return StepResult::Next();
  }
  mm.tlb_flush_batched = false;
  FlushInfo info;
  info.mm = locals.mm;
  info.all = true;
  return CallFlush(k, info);
}

StepResult ZapClear(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<ZapLocals>();
  MmuGather& gather = k.kernel.gathers[locals.gather];
  const PageTable& table = k.kernel.mm(locals.mm).table;
  while (!gather.full()) {
    const auto entry = NextEntry(k.tables(), table, locals.next, locals.end);
    if (!entry) {
      locals.next = locals.end;
      return StepResult::Next();
    }
    ZapEntry(k, locals.mm, *entry, gather);
    locals.next = entry->end();
    if (k.split) return StepResult::Again();
  }
  return StepResult::Next();
}

StepResult ZapUnlock(KernelContext& k, StepFrame& frame) {
  return k.UnlockPageTable(frame.As<ZapLocals>().mm);
}

StepResult ZapFlush(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<ZapLocals>();
  if (locals.next >= locals.end) return StepResult::Done();
  return k.Call(KernelProgram::kTlbFlushMmu, GatherLocals{locals.gather, 0});
}

StepResult ZapAgain(KernelContext&, StepFrame&) {
  return StepResult::Jump(kZapLock);
}

// --- tlb_flush_mmu, tlb_finish_mmu ---

void FreeTables(KernelContext& k, MmuGather& gather) {
  for (const UnhookedTable& table : gather.TakeTables()) {
    k.hardware.CheckTableFree(k.cpu, table.frame,
                              [&](CpuId cpu, Pcid pcid, bool on) {
                                return CanWalkTables(k.kernel, cpu, pcid, on);
                              });
    FreeTable(k.hardware.memory(), table.frame);
    ++k.kernel.tables_freed;
    k.Work(k.costs().page_free);
  }
}

enum GatherStep : uint16_t { kCheckNested, kFlush, kFreePages, kFreeTables };

StepResult CheckNested(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<GatherLocals>();
  MmuGather& gather = k.kernel.gathers[locals.gather];
  const bool nested = k.kernel.mm(gather.mm()).tlb_flush_pending > 1;
  if (locals.finish && nested && k.rules().Fixed(KernelFix::kNestedGather)) {
    gather.FlushAll();
  }
  if (!k.rules().Fixed(KernelFix::kInvalidateBeforeTable)) {
    FreeTables(k, gather);
  }
  return gather.need_flush() ? StepResult::Next()
                             : StepResult::Jump(kFreePages);
}

StepResult FlushGather(KernelContext& k, StepFrame& frame) {
  const MmuGather& gather = k.kernel.gathers[frame.As<GatherLocals>().gather];
  const KernelRules& rules = k.rules();
  const bool tracked = rules.gather_tracks_range;
  FlushInfo info;
  info.mm = gather.mm();
  info.all = gather.fullmm();
  info.freed_tables = gather.freed_tables();
  if (!info.all) {
    info.start = gather.first(tracked);
    info.end = gather.end(tracked);
    // 4.20 knows the stride; before, hugetlbfs alone is told apart.
    if (rules.concurrent) {
      info.stride_order = static_cast<uint8_t>(PageOrder(gather.smallest()));
    } else if (gather.hugetlb()) {
      info.vm_flags = FlushInfo::kHugetlb;
    }
  }
  return CallFlushOfGather(k, info, frame.As<GatherLocals>().gather);
}

// What waits for a deferred flush is no longer there.
StepResult FreePages(KernelContext& k, StepFrame& frame) {
  MmuGather& gather = k.kernel.gathers[frame.As<GatherLocals>().gather];
  for (const FrameNumber page : gather.TakePages()) PutPage(k, page);
  return StepResult::Next();
}

StepResult FreeGatheredTables(KernelContext& k, StepFrame& frame) {
  MmuGather& gather = k.kernel.gathers[frame.As<GatherLocals>().gather];
  FreeTables(k, gather);
  gather.Reset();
  return StepResult::Done();
}

// --- split_huge_pmd ---

enum SplitStep : uint16_t {
  kSplitLock,
  kInvalidate,
  kSplitFlush,
  kPopulate,
  kSplitUnlock
};

StepResult SplitLock(KernelContext& k, StepFrame& frame) {
  return k.LockPageTable(frame.As<SplitLocals>().mm);
}

// The entry keeps its frame, as one that no access may use.
StepResult Invalidate(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SplitLocals>();
  const EntryRef entry =
      FindEntry(k.tables(), k.kernel.mm(locals.mm).table, locals.page);
  LOOKASIDE_CHECK(entry.level == PagingLevel::kPde && MapsFrame(entry.pte));
  k.Work(k.costs().pte);
  if (entry.pte.present()) {
    k.hardware.WritePte(entry.address, ProtNone(entry.pte));
    // Remembered in a bit that PROT_NONE leaves alone.
    frame.As<SplitLocals>().unused = 1;
  }
  return StepResult::Next();
}

StepResult SplitFlush(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SplitLocals>();
  FlushInfo info;
  info.mm = locals.mm;
  info.start = AlignDown(locals.page, PageSize::k2M);
  info.end = VirtPage(info.start.value() + PagesIn(PageSize::k2M));
  if (k.rules().concurrent) {
    info.stride_order = static_cast<uint8_t>(PageOrder(PageSize::k2M));
  }
  return CallFlush(k, info);
}

// Gives the 512 parts entries of their own, behind one write at the top.
StepResult Populate(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SplitLocals>();
  PhysicalMemory& memory = k.hardware.memory();
  const EntryRef entry =
      FindEntry(k.tables(), k.kernel.mm(locals.mm).table, locals.page);
  const auto table = memory.frames.Allocate(
      PageSize::k4K, k.hardware.NodeOf(k.cpu), Mobility::kUnmovable);
  if (!table.ok()) return k.Fail(table.status());
  memory.tables.AddTable(*table);
  FrameTable& frames = k.kernel.frames;
  const FrameNumber head = entry.pte.frame();
  Pte part(entry.pte.bits() & ~Pte::kPageSize);
  if (locals.unused != 0) part = FromProtNone(part);
  for (unsigned i = 0; i < kEntriesPerTable; ++i) {
    const FrameNumber frame_number(head.value() + i);
    const VirtPage page(entry.page.value() + i);
    k.hardware.WritePte(EntryAddress(*table, i), part.WithFrame(frame_number));
    if (i == 0) frames.RemoveMapping(head, {locals.mm, entry.page});
    frames.AddMapping(frame_number, {locals.mm, page});
  }
  PutPage(k, head);  // the large mapping's
  k.hardware.WritePte(entry.address, Pte::Table(*table));
  k.Work(k.costs().pte * kEntriesPerTable);
  return StepResult::Next();
}

StepResult SplitUnlock(KernelContext& k, StepFrame& frame) {
  k.UnlockPageTable(frame.As<SplitLocals>().mm);
  return StepResult::Done();
}

constexpr KernelStep kZap[] = {
    {.name = "lock",
     .cell = kCellPageTableLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the page-table lock",
     .run = &ZapLock},
    {.name = "flush_batched_pending",
     .cell = kCellFlushBatched,
     .access = StepAccess::kRead,
     .text = "do the flush that reclaim owes, if any",
     .run = &ZapPending},
    {.name = "clear",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .splittable = true,
     .text = "clear the entries into the gather, until it is full",
     .run = &ZapClear},
    {.name = "unlock",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock",
     .run = &ZapUnlock},
    {.name = "flush",
     .text = "return at the end; else call tlb_flush_mmu",
     .run = &ZapFlush},
    {.name = "again", .text = "go on with lock", .run = &ZapAgain}};

constexpr KernelStep kGather[] = {
    {.name = "check_nested",
     .cell = kCellFlushPending,
     .access = StepAccess::kRead,
     .text = "at the end: if another gather is at work, flush everything; if "
             "nothing was cleared: free_pages",
     .run = &CheckNested},
    {.name = "flush",
     .text = "flush what was cleared, or what was asked for",
     .run = &FlushGather},
    {.name = "free_pages",
     .cell = kCellFrame,
     .access = StepAccess::kAtomic,
     .text = "drop the gather's references to pages",
     .run = &FreePages},
    {.name = "free_tables",
     .text = "give the tables back; return",
     .run = &FreeGatheredTables}};

constexpr KernelStep kSplit[] = {
    {.name = "lock",
     .cell = kCellPageTableLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the page-table lock",
     .run = &SplitLock},
    {.name = "invalidate",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .text = "make the large entry not present",
     .run = &Invalidate},
    {.name = "flush", .text = "flush its 2M", .run = &SplitFlush},
    {.name = "populate",
     .cell = kCellTable,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "hook in a table of 512 entries in its place",
     .run = &Populate},
    {.name = "unlock",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock; return",
     .run = &SplitUnlock}};

}  // namespace

const KernelSteps kZapRangeProgram = {
    "unmap_page_range", "clear a range of entries into a gather", kZap};
const KernelSteps kTlbFlushMmuProgram = {
    "tlb_flush_mmu", "invalidate, then free what a gather holds", kGather};
const KernelSteps kSplitHugeProgram = {
    "split_huge_pmd", "map a large page by 512 entries", kSplit};

}  // namespace lookaside
