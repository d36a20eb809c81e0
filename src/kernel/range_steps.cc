// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/range_steps.h"

#include <algorithm>

#include "lookaside/kernel/deferred_steps.h"
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/flush_steps.h"

namespace lookaside::range_steps {
namespace {

RangeLocals& Locals(StepFrame& frame) { return frame.As<RangeLocals>(); }

StepResult SplitAt(KernelContext& k, MmId mm, VirtPage page) {
  if (!StraddlesHuge(k.tables(), k.kernel.mm(mm).table, page)) {
    return StepResult::Next();
  }
  return k.Call(KernelProgram::kSplitHuge, SplitLocals{mm, 0, page});
}

}  // namespace

StepResult LockForWriting(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  return locals.mmap_held ? StepResult::Next() : k.LockMmap(locals.mm, true);
}

StepResult LockForReading(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  return locals.mmap_held ? StepResult::Next() : k.LockMmap(locals.mm, false);
}

StepResult UnlockAndReturn(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  if (!locals.mmap_held) k.UnlockMmap(locals.mm);
  return StepResult::Done(static_cast<uint64_t>(ResultOf(locals)));
}

StepResult LockPageTable(KernelContext& k, StepFrame& frame) {
  return k.LockPageTable(Locals(frame).mm);
}

StepResult UnlockPageTable(KernelContext& k, StepFrame& frame) {
  return k.UnlockPageTable(Locals(frame).mm);
}

StepResult SplitAtFirst(KernelContext& k, StepFrame& frame) {
  return SplitAt(k, Locals(frame).mm, Locals(frame).first);
}

StepResult SplitAtEnd(KernelContext& k, StepFrame& frame) {
  return SplitAt(k, Locals(frame).mm, Locals(frame).end);
}

StepResult BeginGather(KernelContext& k, StepFrame& frame) {
  RangeLocals& locals = Locals(frame);
  locals.gather = k.kernel.gathers.Add(
      MmuGather(locals.mm, locals.first, locals.end, /*fullmm=*/false));
  ++k.kernel.mm(locals.mm).tlb_flush_pending;
  return StepResult::Next();
}

StepResult BeginDeferrableGather(KernelContext& k, StepFrame& frame) {
  const StepResult result = BeginGather(k, frame);
  const RangeLocals& locals = Locals(frame);
  if (!locals.mmap_held) k.kernel.gathers[locals.gather].set_may_defer();
  return result;
}

StepResult SettleDeferred(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  return CallSettle(k, locals.mm, locals.first,
                    std::max(locals.end, locals.part_end));
}

StepResult Zap(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  return k.Call(KernelProgram::kZapRange,
                ZapLocals{locals.mm, locals.gather, locals.first, locals.end});
}

StepResult FinishGather(KernelContext& k, StepFrame& frame) {
  return k.Call(KernelProgram::kTlbFlushMmu,
                GatherLocals{Locals(frame).gather, 1});
}

StepResult EndGather(KernelContext& k, StepFrame& frame) {
  const RangeLocals& locals = Locals(frame);
  k.kernel.gathers.Remove(locals.gather);
  --k.kernel.mm(locals.mm).tlb_flush_pending;
  return StepResult::Next();
}

StepResult FlushBatchedPending(KernelContext& k, StepFrame& frame) {
  Mm& mm = k.kernel.mm(Locals(frame).mm);
  if (!mm.tlb_flush_batched ||
      !k.rules().Fixed(KernelFix::kBatchedFlushPending)) {
    return StepResult::Next();
  }
  mm.tlb_flush_batched = false;
  FlushInfo info;
  info.mm = Locals(frame).mm;
  info.all = true;
  return CallFlush(k, info);
}

}  // namespace lookaside::range_steps
