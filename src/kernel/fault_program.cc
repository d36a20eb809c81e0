// SPDX-License-Identifier: Apache-2.0
//
// handle_mm_fault (Linux mm/memory.c): demand paging of private and shared
// memory, large pages by policy, swap space, spurious and denied faults. What
// is written to while it is shared or read-only goes to do_wp_page.
//
// A page that no known mapping holds is mapped as private memory that allows
// everything, and counted: recordings may begin in mid-run.
//
// Left out: the zero page for first reads, fault-around of file pages.
#include "absl/status/statusor.h"
#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/kernel/deferred_steps.h"
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/entry_holder.h"
#include "lookaside/kernel/fault_steps.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"

namespace lookaside {
namespace {

enum FaultStep : uint16_t {
  kLockMmap,
  kFindVma,
  kReadEntry,
  kAllocate,
  kLockTable,
  kSettle,
  kSetEntry,
  kUnlockTable,
  kUnlockMmap,
};

const Vma& VmaOf(KernelContext& k, const FaultLocals& locals) {
  return *k.kernel.mm(locals.mm).vmas.Find(locals.page());
}

StepResult LockMmap(KernelContext& k, StepFrame& frame) {
  return k.LockMmap(frame.As<FaultLocals>().mm, /*write=*/false);
}

// All of the 2M range that is still outside every mapping, or the page.
Vma UnknownVma(KernelContext& k, const FaultLocals& locals) {
  Vma vma;
  vma.attributes.protection = {true, true, true};
  const VmaSet& vmas = k.kernel.mm(locals.mm).vmas;
  vma.start = AlignDown(locals.page(), PageSize::k2M);
  vma.end = VirtPage(vma.start.value() + PagesIn(PageSize::k2M));
  if (k.kernel.thp == ThpPolicy::kAlways &&
      !vmas.Overlaps(vma.start, vma.end)) {
    return vma;
  }
  vma.start = locals.page();
  vma.end = VirtPage(vma.start.value() + 1);
  return vma;
}

// Lets go of the lock: whoever asked may go on without the access.
StepResult Refuse(KernelContext& k, const FaultLocals& locals,
                  const absl::Status& why) {
  k.UnlockMmap(locals.mm);
  return k.Fail(why);
}

StepResult MapUnknown(KernelContext& k, const FaultLocals& locals) {
  if (k.kernel.strict) {
    return Refuse(k, locals,
                  InvalidArgument("page {:#x} is outside every mapping that "
                                  "the trace tells of, which "
                                  "replay.strict = true makes an error",
                                  locals.address.value()));
  }
  UnknownMappings& unknown = k.kernel.unknown;
  if (unknown.count++ == 0) unknown.first = locals.address;
  k.kernel.mm(locals.mm).vmas.Map(UnknownVma(k, locals));
  return StepResult::Next();
}

StepResult FindVma(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<FaultLocals>();
  const Vma* const vma = k.kernel.mm(locals.mm).vmas.Find(locals.page());
  if (vma == nullptr) return MapUnknown(k, locals);
  const Protection& allowed = vma->attributes.protection;
  const bool denied = (locals.write && !allowed.write) ||
                      (locals.fetch && !allowed.exec) || allowed.none();
  if (!denied) return StepResult::Next();
  ++k.faults().denied;
  return Refuse(k, locals,
                InvalidArgument("the access to {:#x} was denied",
                                locals.address.value()));
}

StepResult Spurious(KernelContext& k) {
  ++k.faults().spurious;
  return StepResult::Jump(kUnlockMmap);
}

StepResult ReadEntry(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<FaultLocals>();
  const EntryRef entry =
      FindEntry(k.tables(), k.kernel.mm(locals.mm).table, locals.page());
  locals.seen = entry.pte;
  if (!entry.pte.present()) return StepResult::Next();
  if (!locals.write || entry.pte.writable()) return Spurious(k);
  locals.handled = true;
  return k.Call(KernelProgram::kCopyOnWrite,
                CopyLocals{locals.mm, 0, locals.page(), {}, {}});
}

// Linux thp_vma_allowable_order, for private memory alone.
bool MayBeLarge(KernelContext& k, const FaultLocals& locals) {
  const Vma& vma = VmaOf(k, locals);
  const ThpAdvice advice = vma.attributes.advice;
  const bool wanted =
      (k.kernel.thp == ThpPolicy::kAlways && advice != ThpAdvice::kNoHuge) ||
      (k.kernel.thp == ThpPolicy::kMadvise && advice == ThpAdvice::kHuge) ||
      vma.attributes.hugetlb != 0;
  if (!wanted || vma.attributes.shared()) return false;
  const VirtPage first = AlignDown(locals.page(), PageSize::k2M);
  if (vma.start > first ||
      vma.end.value() < first.value() + PagesIn(PageSize::k2M)) {
    return false;
  }
  const EntryRef entry =
      FindEntry(k.tables(), k.kernel.mm(locals.mm).table, locals.page());
  // A table stands there already if the walk went below it.
  return entry.level != PagingLevel::kPte;
}

StepResult AllocateShared(KernelContext& k, FaultLocals& locals) {
  const Vma& vma = VmaOf(k, locals);
  SharedObject& object = k.kernel.objects[vma.attributes.object.value() - 1];
  const auto [page, added] =
      object.pages.try_emplace(vma.OffsetOf(locals.page()), FrameNumber());
  if (added) {
    const auto frame = AllocatePage(k, PageSize::k4K);
    if (!frame.ok()) return k.Fail(frame.status());
    page->second = *frame;  // the object's reference
  }
  locals.frame = page->second;
  return StepResult::Next();
}

// Linux vma_alloc_anon_folio_pmd: without a free block of 2M the fault goes on
// with 4K (but for MAP_HUGETLB, which was promised large pages).
absl::StatusOr<FrameNumber> AllocatePrivate(KernelContext& k,
                                            FaultLocals& locals) {
  if (!locals.large) return AllocatePage(k, PageSize::k4K);
  const auto large = AllocatePage(k, PageSize::k2M);
  if (large.ok() || VmaOf(k, locals).attributes.hugetlb != 0) return large;
  ++k.faults().thp_fallback;
  locals.large = false;
  return AllocatePage(k, PageSize::k4K);
}

StepResult Allocate(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<FaultLocals>();
  if (locals.handled) return StepResult::Jump(kUnlockMmap);
  if (IsProtNone(locals.seen)) return StepResult::Next();
  if (locals.seen.none() && VmaOf(k, locals).attributes.shared()) {
    return AllocateShared(k, locals);
  }
  locals.large = locals.seen.none() && MayBeLarge(k, locals);
  const auto allocated = AllocatePrivate(k, locals);
  if (!allocated.ok()) return k.Fail(allocated.status());
  locals.frame = *allocated;
  locals.allocated = 1;
  // Most of the handler's work (clearing the page, charging it) is done before
  // the page-table lock is taken.
  const uint64_t more = locals.large ? PagesIn(PageSize::k2M) - 1 : 0;
  k.Charge(CostKind::kFault,
           k.costs().minor_fault + k.costs().page_clear * more);
  return StepResult::Next();
}

StepResult LockTable(KernelContext& k, StepFrame& frame) {
  return k.LockPageTable(frame.As<FaultLocals>().mm);
}

// Another CPU was first: what was allocated goes back.
StepResult Raced(KernelContext& k, const FaultLocals& locals) {
  if (locals.allocated != 0) PutPage(k, locals.frame);
  ++k.faults().spurious;
  return StepResult::Next();
}

void CountMapped(KernelContext& k, const FaultLocals& locals) {
  if (IsSwap(locals.seen)) {
    ++k.faults().major;
    k.Charge(CostKind::kFault, k.costs().major_fault);
  } else {
    ++k.faults().minor;
  }
  if (locals.allocated != 0) return;  // charged already
  k.Charge(CostKind::kFault, k.costs().minor_fault);
}

StepResult RestoreHinted(KernelContext& k, const FaultLocals& locals,
                         const EntryRef& entry) {
  ++k.faults().minor;
  k.hardware.WritePte(entry.address,
                      FromProtNone(entry.pte).WithAccessed(true));
  k.Charge(CostKind::kFault, k.costs().minor_fault);
  static_cast<void>(locals);
  return StepResult::Next();
}

// Copies of what stood here before must not go on beside the new page. An
// entry that was hinted gets its own page back.
StepResult Settle(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<FaultLocals>();
  if (IsProtNone(locals.seen)) return StepResult::Next();
  const PageSize size = locals.large ? PageSize::k2M : PageSize::k4K;
  const VirtPage page = AlignDown(locals.page(), size);
  return CallSettle(k, locals.mm, page, VirtPage(page.value() + PagesIn(size)));
}

StepResult SetEntry(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<FaultLocals>();
  const EntryRef entry =
      FindEntry(k.tables(), k.kernel.mm(locals.mm).table, locals.page());
  if (entry.pte != locals.seen) return Raced(k, locals);
  if (IsProtNone(entry.pte)) return RestoreHinted(k, locals, entry);
  const Vma& vma = VmaOf(k, locals);
  const PageSize size = locals.large ? PageSize::k2M : PageSize::k4K;
  // Linux marks the page of a write fault dirty at once.
  Pte leaf =
      Pte::Leaf(locals.frame, size, PermissionsOf(vma.attributes.protection))
          .WithAccessed(true)
          .WithDirty(locals.write);
  if (k.rules().tracks_holders)
    leaf = InsertPrivate(k, locals.mm, locals.page(), leaf);
  const VirtPage page = AlignDown(locals.page(), size);
  const absl::Status entered = EnterLeaf(k, locals.mm, page, size, leaf);
  if (!entered.ok()) return k.Fail(entered);
  if (IsSwap(locals.seen)) PutSwap(k, SwapSlot(locals.seen));
  if (locals.allocated != 0) PutPage(k, locals.frame);  // the mapping has one
  CountMapped(k, locals);
  return StepResult::Next();
}

StepResult UnlockTable(KernelContext& k, StepFrame& frame) {
  return k.UnlockPageTable(frame.As<FaultLocals>().mm);
}

StepResult UnlockMmap(KernelContext& k, StepFrame& frame) {
  k.UnlockMmap(frame.As<FaultLocals>().mm);
  return StepResult::Done();
}

constexpr KernelStep kFaultIn[] = {
    {.name = "lock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the mmap lock for reading",
     .run = &LockMmap},
    {.name = "find_vma",
     .cell = kCellVmas,
     .access = StepAccess::kRead,
     .text = "find the mapping; denied if it does not allow the access",
     .run = &FindVma},
    {.name = "read_entry",
     .cell = kCellPte,
     .access = StepAccess::kRead,
     .text = "spurious if it allows the access: unlock_mmap; a write to a "
             "read-only page: call do_wp_page",
     .run = &ReadEntry},
    {.name = "allocate",
     .text = "a page, large where the policy and the mapping allow it and a "
             "block of 2M is free",
     .run = &Allocate},
    {.name = "lock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kAcquire,
     .text = "take the page-table lock",
     .run = &LockTable},
    {.name = "settle_deferred",
     .cell = kCellDeferred,
     .access = StepAccess::kRead,
     .text = "latr: do the flush of what was mapped here, if it was put off",
     .run = &Settle},
    {.name = "set_entry",
     .cell = kCellPte,
     .access = StepAccess::kAtomic,
     .text = "enter the page, if the entry is still what was read",
     .run = &SetEntry},
    {.name = "unlock_table",
     .cell = kCellPageTableLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the page-table lock",
     .run = &UnlockTable},
    {.name = "unlock_mmap",
     .cell = kCellMmapLock,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "drop the mmap lock; return",
     .run = &UnlockMmap}};
static_assert(std::size(kFaultIn) == kUnlockMmap + 1);

}  // namespace

const KernelSteps kFaultInProgram = {
    "handle_mm_fault", "make an access that faulted possible", kFaultIn};

}  // namespace lookaside
