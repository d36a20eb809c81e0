// SPDX-License-Identifier: Apache-2.0
//
// do_wp_page (Linux mm/memory.c): a write to a private page that is mapped
// read-only. If nobody else uses the page it becomes writable; else it is
// copied, and the old entry is cleared and flushed before the new one stands,
// so that no CPU reads the old page once another has written the new. A large
// page that others use is split, and one part of it copied.
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/fault_steps.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {
namespace {

enum CopyStep : uint16_t {
  kCheck,
  kCheckAgain,
  kCopy,
  kLock,
  kClear,
  kFlush,
  kSet,
  kUnlock,
  kReuseLock,
  kReuse,
  kReuseUnlock,
};

EntryRef EntryOf(KernelContext& k, const CopyLocals& locals) {
  return FindEntry(k.tables(), k.kernel.mm(locals.mm).table, locals.page);
}

// Whether this entry is the page's only user.
bool MayReuse(KernelContext& k, const CopyLocals& locals,
              const EntryRef& entry) {
  const Vma* const vma = k.kernel.mm(locals.mm).vmas.Find(locals.page);
  if (vma != nullptr && vma->attributes.shared()) return true;
  const FrameTable::Use& use = k.kernel.frames.UseOf(entry.pte.frame());
  return use.references == 1;
}

StepResult Check(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<CopyLocals>();
  const EntryRef entry = EntryOf(k, locals);
  if (!entry.pte.present() || entry.pte.writable()) return StepResult::Done();
  if (MayReuse(k, locals, entry)) return StepResult::Jump(kReuseLock);
  locals.before = entry.pte.frame();
  if (entry.level == PagingLevel::kPte) return StepResult::Jump(kCopy);
  return k.Call(KernelProgram::kSplitHuge,
                SplitLocals{locals.mm, 0, locals.page});
}

StepResult CheckAgain(KernelContext&, StepFrame&) {
  return StepResult::Jump(kCheck);
}

StepResult Copy(KernelContext& k, StepFrame& frame) {
  const auto page = AllocatePage(k, PageSize::k4K);
  if (!page.ok()) return k.Fail(page.status());
  frame.As<CopyLocals>().copy = *page;
  k.Charge(CostKind::kFault, k.costs().page_copy);
  return StepResult::Next();
}

StepResult Lock(KernelContext& k, StepFrame& frame) {
  return k.LockPageTable(frame.As<CopyLocals>().mm);
}

// As PROT_NONE until the new entry stands: the mapping keeps its reference.
StepResult Clear(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<CopyLocals>();
  const EntryRef entry = EntryOf(k, locals);
  if (!entry.pte.present() || entry.pte.frame() != locals.before) {
    PutPage(k, locals.copy);  // another CPU was first
    return StepResult::Jump(kUnlock);
  }
  k.hardware.WritePte(entry.address, ProtNone(entry.pte));
  return StepResult::Next();
}

StepResult Flush(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<CopyLocals>();
  return CallFlushPage(k, locals.mm, locals.page);
}

StepResult Set(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<CopyLocals>();
  const EntryRef entry = EntryOf(k, locals);
  const Pte before = entry.pte;
  k.kernel.frames.Get(before.frame());  // so that it outlives the exchange
  ReplaceEntry(k, locals.mm, entry,
               FromProtNone(before)
                   .WithFrame(locals.copy)
                   .WithWritable(true)
                   .WithAccessed(true)
                   .WithDirty(true));
  PutPage(k, before.frame());
  PutPage(k, before.frame());
  PutPage(k, locals.copy);
  ++k.faults().cow;
  k.Charge(CostKind::kFault, k.costs().minor_fault);
  return StepResult::Next();
}

StepResult Unlock(KernelContext& k, StepFrame& frame) {
  k.UnlockPageTable(frame.As<CopyLocals>().mm);
  return StepResult::Done();
}

StepResult Reuse(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<CopyLocals>();
  const EntryRef entry = EntryOf(k, locals);
  if (!entry.pte.present()) return StepResult::Next();
  k.hardware.WritePte(
      entry.address,
      entry.pte.WithWritable(true).WithAccessed(true).WithDirty(true));
  ++k.faults().minor;
  k.Charge(CostKind::kFault, k.costs().minor_fault);
  return StepResult::Next();
}

constexpr KernelStep kLockStep = {.name = "lock",
                                  .cell = kCellPageTableLock,
                                  .access = StepAccess::kAtomic,
                                  .fence = StepFence::kAcquire,
                                  .text = "take the page-table lock",
                                  .run = &Lock};
constexpr KernelStep kUnlockStep = {.name = "unlock",
                                    .cell = kCellPageTableLock,
                                    .access = StepAccess::kWrite,
                                    .fence = StepFence::kRelease,
                                    .text = "drop the page-table lock; return",
                                    .run = &Unlock};

constexpr KernelStep kSteps[] = {
    {.name = "check",
     .cell = kCellFrame,
     .access = StepAccess::kRead,
     .text = "nobody else uses the page: reuse; a large page: split it",
     .run = &Check},
    {.name = "check_again", .text = "go back to check", .run = &CheckAgain},
    {.name = "copy", .text = "allocate a page and copy", .run = &Copy},
    kLockStep,
    {.name = "clear",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .text = "make the entry not present",
     .run = &Clear},
    {.name = "flush", .text = "flush the page everywhere", .run = &Flush},
    {.name = "set",
     .cell = kCellPte,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "enter the copy, writable",
     .run = &Set},
    kUnlockStep,
    kLockStep,
    {.name = "reuse",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .text = "make the entry writable and dirty; old copies fault once",
     .run = &Reuse},
    kUnlockStep,
};
static_assert(std::size(kSteps) == kReuseUnlock + 1);

}  // namespace

const KernelSteps kCopyOnWriteProgram = {
    "do_wp_page", "a write to a private page that is mapped read-only", kSteps};

}  // namespace lookaside
