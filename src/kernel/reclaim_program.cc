// SPDX-License-Identifier: Apache-2.0
//
// Reclaim of a range's pages (Linux mm/vmscan.c, mm/rmap.c try_to_unmap): each
// page is unmapped wherever it is mapped, and goes to swap space, or nowhere
// if MADV_FREE gave it up and nobody wrote to it since. Before 4.3 each entry
// is flushed as it is cleared; since then (72b252aed506) the CPUs concerned
// are noted, and one flush of all of them comes before the pages are freed.
//
// Large pages, and pages that anything but entries holds, are passed over.
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

using namespace range_steps;  // NOLINT: the steps of this file's tables

enum ReclaimStep : uint16_t {
  kBeginGather,
  kNextPage,
  kNextMapping,
  kLock,
  kUnmap,
  kBumpGen,
  kNoteCpus,
  kFlushPage,
  kUnlock,
  kMore,
  kFlushBatch,
  kFree,
  kEndGather,
  kReturn,
};

struct ReclaimLocals {
  MmId mm = kNoMm;  // of the range
  uint32_t gather = 0;
  VirtPage next;
  VirtPage end;
  FrameNumber frame;
  uint64_t slot = 0;   // of swap space; 0: none
  MmId of = kNoMm;     // the mapping that is unmapped
  uint32_t flags = 0;  // whether the page is in the gather
  VirtPage page;
  uint64_t unused[3] = {};
};

// Begins as the RangeLocals that every ranged operation starts with.
ReclaimLocals& Locals(StepFrame& frame) { return frame.As<ReclaimLocals>(); }

StepResult BeginPages(KernelContext& k, StepFrame& frame) {
  const RangeLocals range = frame.As<RangeLocals>();
  ReclaimLocals locals;
  locals.mm = range.mm;
  locals.next = range.first;
  locals.end = range.end;
  locals.gather = k.kernel.gathers.Add(
      MmuGather(range.mm, range.first, range.end, /*fullmm=*/false));
  frame.As<ReclaimLocals>() = locals;
  return StepResult::Next();
}

bool CanReclaim(KernelContext& k, const EntryRef& entry) {
  if (!entry.pte.present() || entry.level != PagingLevel::kPte) return false;
  const FrameTable::Use& use = k.kernel.frames.UseOf(entry.pte.frame());
  return use.size == PageSize::k4K && use.references == use.mappings.size();
}

StepResult NextPage(KernelContext& k, StepFrame& frame) {
  ReclaimLocals& locals = Locals(frame);
  const PageTable& table = k.kernel.mm(locals.mm).table;
  while (const auto entry =
             NextEntry(k.tables(), table, locals.next, locals.end)) {
    locals.next = entry->end();
    if (!CanReclaim(k, *entry)) continue;
    locals.frame = entry->pte.frame();
    const bool drop =
        k.kernel.lazily_freed.contains(locals.frame) && !entry->pte.dirty();
    locals.slot = drop ? 0 : NewSwapSlot(k);
    k.kernel.frames.Get(locals.frame);  // the gather's
    k.kernel.gathers[locals.gather].AddPage(locals.frame);
    return StepResult::Next();
  }
  return StepResult::Jump(kFlushBatch);
}

StepResult NextMapping(KernelContext& k, StepFrame& frame) {
  ReclaimLocals& locals = Locals(frame);
  const FrameTable::Mappings& mappings =
      k.kernel.frames.UseOf(locals.frame).mappings;
  if (mappings.empty()) return StepResult::Jump(kMore);
  locals.of = mappings.front().mm;
  locals.page = mappings.front().page;
  return StepResult::Next();
}

StepResult Lock(KernelContext& k, StepFrame& frame) {
  return k.LockPageTable(Locals(frame).of);
}

StepResult Unmap(KernelContext& k, StepFrame& frame) {
  const ReclaimLocals& locals = Locals(frame);
  const EntryRef entry =
      FindEntry(k.tables(), k.kernel.mm(locals.of).table, locals.page);
  k.Work(k.costs().pte);
  // Found before the lock was held (page_vma_mapped_walk looks again).
  if (!MapsFrame(entry.pte) || entry.pte.frame() != locals.frame) {
    return StepResult::Jump(kUnlock);
  }
  const Pte left = locals.slot == 0 ? Pte() : SwapPte(locals.slot);
  if (locals.slot != 0) GetSwap(k, locals.slot);
  k.hardware.WritePte(entry.address, left);
  k.kernel.frames.RemoveMapping(locals.frame, {locals.of, locals.page});
  PutPage(k, locals.frame);
  return k.rules().generations ? StepResult::Next()
                               : StepResult::Jump(kFlushPage);
}

StepResult BumpGen(KernelContext& k, StepFrame& frame) {
  ++k.kernel.mm(Locals(frame).of).tlb_gen;
  return StepResult::Next();
}

StepResult NoteCpus(KernelContext& k, StepFrame& frame) {
  Mm& mm = k.kernel.mm(Locals(frame).of);
  k.tlb().batch |= mm.cpumask;
  mm.tlb_flush_batched = true;
  return StepResult::Jump(kUnlock);
}

StepResult FlushNow(KernelContext& k, StepFrame& frame) {
  return CallFlushPage(k, Locals(frame).of, Locals(frame).page);
}

StepResult Unlock(KernelContext& k, StepFrame& frame) {
  k.UnlockPageTable(Locals(frame).of);
  return StepResult::Jump(kNextMapping);
}

// The slot's first reference was ours while the entries came.
StepResult More(KernelContext& k, StepFrame& frame) {
  if (Locals(frame).slot != 0) PutSwap(k, Locals(frame).slot);
  return StepResult::Jump(kNextPage);
}

StepResult FlushNoted(KernelContext& k, StepFrame&) {
  if (k.tlb().batch.empty()) return StepResult::Next();
  FlushPayload payload;
  payload.initiator = k.cpu;
  const uint32_t index = k.kernel.payloads.Add(payload);
  return k.Call(KernelProgram::kFlushBatch, FlushLocals{index, 0});
}

StepResult Free(KernelContext& k, StepFrame& frame) {
  return k.Call(KernelProgram::kTlbFlushMmu,
                GatherLocals{Locals(frame).gather, 0});
}

StepResult EndPages(KernelContext& k, StepFrame& frame) {
  k.kernel.gathers.Remove(Locals(frame).gather);
  return StepResult::Next();
}

StepResult Return(KernelContext&, StepFrame&) { return StepResult::Done(); }

constexpr KernelStep kSteps[] = {
    {.name = "begin", .text = "a gather for the pages", .run = &BeginPages},
    {.name = "next_page",
     .cell = kCellPte,
     .access = StepAccess::kRead,
     .text = "the next page of the range; at the end: flush_batch",
     .run = &NextPage},
    {.name = "next_mapping",
     .text = "one of its mappings; none left: more",
     .run = &NextMapping},
    {.name = "lock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take that address space's page-table lock",
     .run = &Lock},
    {.name = "unmap",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .text = "a slot of swap space, or nothing, in its place",
     .run = &Unmap},
    {.name = "bump_gen",
     .cell = kCellTlbGen,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kFull,
     .text = "since 4.14: tlb_gen + 1",
     .run = &BumpGen},
    {.name = "note_cpus",
     .cell = kCellCpumask,
     .access = StepAccess::kRead,
     .text = "note its CPUs, and that it is owed a flush; unlock_table",
     .run = &NoteCpus},
    {.name = "flush_page",
     .text = "before: flush the page everywhere",
     .run = &FlushNow},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the lock; next_mapping",
     .run = &Unlock},
    {.name = "more", .text = "go on with next_page", .run = &More},
    {.name = "flush_batch",
     .text = "call arch_tlbbatch_flush, if any is owed",
     .run = &FlushNoted},
    {.name = "free", .text = "free the pages", .run = &Free},
    {.name = "end", .text = "the gather is empty", .run = &EndPages},
    {.name = "return", .text = "return", .run = &Return}};
static_assert(std::size(kSteps) == kReturn + 1);

}  // namespace

const KernelSteps kReclaimProgram = {
    "reclaim", "unmap pages everywhere, flush once, free them", kSteps};

}  // namespace lookaside
