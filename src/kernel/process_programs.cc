// SPDX-License-Identifier: Apache-2.0
//
// New address spaces: fork and exec (Linux kernel/fork.c, fs/exec.c).
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

MmId OtherOf(const RangeLocals& locals) {
  return MmId(static_cast<uint32_t>(locals.argument));
}

// A new address space into `argument`.
StepResult CreateMm(KernelContext& k, StepFrame& frame) {
  const auto created = NewMm(k);
  if (!created.ok()) return k.Fail(created.status());
  Locals(frame).argument = created->value();
  k.Work(k.costs().vma);
  return StepResult::Next();
}

// --- fork ---

StepResult CopyVmas(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const Mm& parent = k.kernel.mm(locals.mm);
  Mm& child = k.kernel.mm(OtherOf(locals));
  child.brk = parent.brk;
  for (const Vma& vma : parent.vmas.All()) {
    child.vmas.Map(vma);
    GetObject(k, vma);
    k.Work(k.costs().vma);
  }
  locals.next = VirtPage(0);
  locals.end = UserEnd(k.hardware.paging_levels());
  return StepResult::Next();
}

absl::Status CopySwap(KernelContext& k, MmId child, const EntryRef& entry) {
  const PageTable& table = k.kernel.mm(child).table;
  const absl::Status mapped =
      table.Map(k.hardware.memory(), entry.page, PageSize::k4K,
                Pte(Pte::kPresent), k.hardware.NodeOf(k.cpu));
  if (!mapped.ok()) return mapped;
  k.hardware.WritePte(FindEntry(k.tables(), table, entry.page).address,
                      entry.pte);
  GetSwap(k, SwapSlot(entry.pte));
  return absl::OkStatus();
}

// A private page becomes read-only in both; a shared object's is faulted in
// by the child when it comes to it.
absl::Status CopyEntry(KernelContext& k, MmId parent, MmId child,
                       const EntryRef& entry) {
  k.Work(k.costs().pte * 2);
  if (IsSwap(entry.pte)) return CopySwap(k, child, entry);
  if (k.kernel.mm(parent).vmas.Find(entry.page)->attributes.shared()) {
    return absl::OkStatus();
  }
  const Pte copy = entry.pte.WithWritable(false);
  const Pte stand_in = IsProtNone(copy) ? FromProtNone(copy) : copy;
  const absl::Status entered =
      EnterLeaf(k, child, entry.page, entry.size(), stand_in);
  if (!entered.ok()) return entered;
  if (IsProtNone(copy)) {
    k.hardware.WritePte(
        FindEntry(k.tables(), k.kernel.mm(child).table, entry.page).address,
        copy);
  }
  if (copy != entry.pte) k.hardware.WritePte(entry.address, copy);
  return absl::OkStatus();
}

StepResult CopyEntries(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  const PageTable table = k.kernel.mm(locals.mm).table;
  while (const auto entry =
             NextEntry(k.tables(), table, locals.next, locals.end)) {
    locals.next = entry->end();
    const absl::Status copied =
        CopyEntry(k, locals.mm, OtherOf(locals), *entry);
    if (!copied.ok()) return k.Fail(copied);
    if (k.split) return StepResult::Again();
  }
  return StepResult::Next();
}

StepResult FlushParent(KernelContext& k, StepFrame& frame) {
  FlushInfo info;
  info.mm = Locals(frame).mm;
  info.all = true;
  return CallFlush(k, info);
}

StepResult UnlockAndReturnChild(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  k.UnlockMmap(locals.mm);
  return StepResult::Done(locals.argument);
}

// --- exec ---

StepResult SwitchToNew(KernelContext& k, StepFrame& frame) {
  const MmId next = OtherOf(Locals(frame));
  k.tlb().task_mm = next;
  return k.Call(KernelProgram::kSwitchMm, SwitchLocals{.next = next});
}

StepResult DropOld(KernelContext& k, StepFrame& frame) {
  RangeLocals old;
  old.mm = Locals(frame).mm;
  old.flags = 1;  // this CPU has left it
  return k.Call(KernelProgram::kExit, old);
}

StepResult ReturnNew(KernelContext&, StepFrame& frame) {
  return StepResult::Done(Locals(frame).argument);
}

constexpr KernelStep kFork[] = {
    {.name = "lock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the parent's mmap lock for writing",
     .run = &LockForWriting},
    {.name = "create_mm", .text = "an empty address space", .run = &CreateMm},
    {.name = "copy_vmas",
     .cell = kCellVmas,
     .access = StepAccess::kRead,
     .text = "the parent's mappings",
     .run = &CopyVmas},
    {.name = "lock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the page-table lock",
     .run = &LockPageTable},
    {.name = "copy_entries",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .splittable = true,
     .text = "private pages become read-only in parent and child",
     .run = &CopyEntries},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock",
     .run = &UnlockPageTable},
    {.name = "flush", .text = "flush all of the parent", .run = &FlushParent},
    {.name = "unlock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the mmap lock; return the child",
     .run = &UnlockAndReturnChild}};

constexpr KernelStep kExec[] = {
    {.name = "create_mm", .text = "an empty address space", .run = &CreateMm},
    {.name = "switch", .text = "call switch_mm for it", .run = &SwitchToNew},
    {.name = "drop_old", .text = "call exit for the old one", .run = &DropOld},
    {.name = "return", .text = "return the new one", .run = &ReturnNew}};

}  // namespace

const KernelSteps kForkProgram = {
    "fork", "a copy of the address space, page by page on write", kFork};
const KernelSteps kExecProgram = {
    "exec", "a new address space in the place of the old", kExec};

}  // namespace lookaside
