// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/start_operation.h"

#include "lookaside/base/check.h"
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/range_steps.h"
#include "lookaside/kernel/switch_steps.h"

namespace lookaside {
namespace {

using Started = std::optional<StepFrame>;

Started Error(KernelContext& k, uint32_t error) {
  k.returned = static_cast<uint64_t>(-static_cast<int64_t>(error));
  return std::nullopt;
}

// Whole pages of [address, address + length), within a program's half.
std::optional<RangeLocals> RangeOf(KernelContext& k, MmId mm, VirtAddr address,
                                   uint64_t length) {
  const uint64_t limit = UserEnd(k.hardware.paging_levels()).value()
                         << kPageShift;
  if (length == 0 || length > limit || address.value() > limit - length) {
    return std::nullopt;
  }
  RangeLocals locals;
  locals.mm = mm;
  locals.first = VirtPage(address.value() >> kPageShift);
  locals.end = VirtPage(((address.value() + length - 1) >> kPageShift) + 1);
  locals.part_end = locals.end;
  locals.next = locals.first;
  return locals;
}

KernelProgram ProgramOf(OperationKind kind) {
  switch (kind) {
    case OperationKind::kMunmap:
      return KernelProgram::kMunmap;
    case OperationKind::kMprotect:
      return KernelProgram::kMprotect;
    case OperationKind::kMadviseDontNeed:
      return KernelProgram::kMadviseZap;
    case OperationKind::kMadviseFree:
      return KernelProgram::kMadviseFree;
    case OperationKind::kMadviseHugePage:
    case OperationKind::kMadviseNoHugePage:
      return KernelProgram::kMadviseAdvice;
    case OperationKind::kMadviseCollapse:
      return KernelProgram::kCollapse;
    case OperationKind::kReclaim:
      return KernelProgram::kReclaim;
    case OperationKind::kNumaHint:
      return KernelProgram::kNumaHint;
    case OperationKind::kMigratePages:
      return KernelProgram::kMigratePages;
    case OperationKind::kMergePages:
      return KernelProgram::kMergePages;
    case OperationKind::kFork:
      return KernelProgram::kFork;
    case OperationKind::kExec:
      return KernelProgram::kExec;
    case OperationKind::kCloneThread:
      return KernelProgram::kCloneThread;
    case OperationKind::kExit:
      return KernelProgram::kExit;
    default:
      LOOKASIDE_CHECK(false);
      return KernelProgram::kMmap;
  }
}

Started Ranged(KernelContext& k, MmId mm, const Operation& operation) {
  auto locals = RangeOf(k, mm, operation.address, operation.length);
  if (!locals) return Error(k, kEinval);
  if (operation.node.value() >= k.hardware.memory().frames.nodes()) {
    return Error(k, kEinval);
  }
  locals->attributes.protection = operation.protection;
  locals->attributes.advice =
      operation.kind == OperationKind::kMadviseNoHugePage ? ThpAdvice::kNoHuge
                                                          : ThpAdvice::kHuge;
  locals->argument = operation.kind == OperationKind::kMergePages
                         ? PageOf(operation.new_address).value()
                         : operation.node.value();
  return StepFrame(IdOf(ProgramOf(operation.kind)), *locals);
}

// The recorded address, or the highest gap below the stack (mmap_base).
std::optional<VirtAddr> PlaceOf(KernelContext& k, MmId mm,
                                const Operation& operation) {
  if (operation.address.value() != 0) return operation.address;
  const uint64_t pages = (operation.length + kPageBytes - 1) >> kPageShift;
  const uint64_t align = operation.hugetlb ? PagesIn(PageSize::k2M) : 1;
  constexpr uint64_t kBelowStack = uint64_t{1} << 15;  // pages: 128 MiB
  const VirtPage limit(UserEnd(k.hardware.paging_levels()).value() -
                       kBelowStack);
  const auto gap = k.kernel.mm(mm).vmas.FindGapBelow(limit, pages, align);
  if (!gap) return std::nullopt;
  return StartOf(*gap);
}

Started Mmap(KernelContext& k, MmId mm, const Operation& operation) {
  if (operation.length == 0) return Error(k, kEinval);
  const auto place = PlaceOf(k, mm, operation);
  if (!place) return Error(k, kEnomem);
  auto locals = RangeOf(k, mm, *place, operation.length);
  if (!locals) return Error(k, kEinval);
  locals->attributes.protection = operation.protection;
  locals->attributes.hugetlb = operation.hugetlb;
  if (operation.shared) {
    locals->attributes.object =
        SharedObjectId(k.kernel.objects.Add(SharedObject()) + 1);
  }
  return StepFrame(IdOf(KernelProgram::kMmap), *locals);
}

Started Mremap(KernelContext& k, MmId mm, const Operation& operation) {
  auto locals = RangeOf(k, mm, operation.address, operation.length);
  const VirtAddr target = operation.new_address.value() != 0
                              ? operation.new_address
                              : operation.address;
  const auto moved = RangeOf(k, mm, target, operation.new_length);
  if (!locals || !moved) return Error(k, kEinval);
  const bool moves = moved->first != locals->first;
  const bool overlaps =
      moved->first < locals->end && locals->first < moved->end;
  if (moves && overlaps) return Error(k, kEinval);
  if (!moves && moved->end > locals->end &&
      k.kernel.mm(mm).vmas.Overlaps(locals->end, moved->end)) {
    return Error(k, kEnomem);
  }
  locals->argument = moved->first.value();
  locals->part_end = moved->end;
  locals->flags = operation.dont_unmap;
  return StepFrame(IdOf(KernelProgram::kMremap), *locals);
}

// The first call of a recording that began in mid-run tells where the heap
// ends, and no more.
Started Brk(KernelContext& k, MmId mm, const Operation& operation) {
  std::optional<VirtAddr>& brk = k.kernel.mm(mm).brk;
  const VirtAddr before = brk.value_or(operation.address);
  if (operation.address.value() == 0) {
    k.returned = before.value();
    return std::nullopt;
  }
  brk = operation.address;
  const auto page_up = [](VirtAddr a) {
    return (a.value() + kPageBytes - 1) >> kPageShift << kPageShift;
  };
  const uint64_t old_end = page_up(before);
  const uint64_t new_end = page_up(operation.address);
  k.returned = operation.address.value();
  if (old_end == new_end) return std::nullopt;
  const bool grows = new_end > old_end;
  auto locals = RangeOf(k, mm, VirtAddr(grows ? old_end : new_end),
                        grows ? new_end - old_end : old_end - new_end);
  if (!locals) return Error(k, kEnomem);
  return StepFrame(IdOf(grows ? KernelProgram::kMmap : KernelProgram::kMunmap),
                   *locals);
}

Started Whole(KernelContext&, MmId mm, const Operation& operation) {
  RangeLocals locals;
  locals.mm = mm;
  return StepFrame(IdOf(ProgramOf(operation.kind)), locals);
}

}  // namespace

std::optional<StepFrame> FrameOf(KernelContext& k, const Operation& operation) {
  const MmId mm = operation.mm == kNoMm ? k.tlb().task_mm : operation.mm;
  switch (operation.kind) {
    case OperationKind::kMmap:
      return Mmap(k, mm, operation);
    case OperationKind::kMremap:
      return Mremap(k, mm, operation);
    case OperationKind::kBrk:
      return Brk(k, mm, operation);
    case OperationKind::kFork:
    case OperationKind::kExec:
    case OperationKind::kCloneThread:
    case OperationKind::kExit:
      return Whole(k, mm, operation);
    case OperationKind::kSwitch:
    case OperationKind::kHalt:
      return StepFrame(IdOf(KernelProgram::kContextSwitch),
                       SwitchLocals{.next = operation.mm});
    default:
      return Ranged(k, mm, operation);
  }
}

bool IsSyscall(OperationKind kind) {
  switch (kind) {
    case OperationKind::kSwitch:
    case OperationKind::kHalt:
    case OperationKind::kReclaim:
    case OperationKind::kNumaHint:
    case OperationKind::kMigratePages:
    case OperationKind::kMergePages:
      return false;
    default:
      return true;
  }
}

}  // namespace lookaside
