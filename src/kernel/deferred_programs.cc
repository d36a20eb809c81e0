// SPDX-License-Identifier: Apache-2.0
//
// Flushes that were put off: leaving them, sweeping them, settling them early,
// and the scheduler tick (kernel/time/timer.c, scheduler_tick) as far as they
// need one.
//
// Left out: the tick's other work and its entry, which every kernel has under
// every policy; only what it sweeps is charged.
#include <algorithm>
#include <iterator>
#include <utility>

#include "lookaside/kernel/deferred_flush.h"
#include "lookaside/kernel/deferred_steps.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"

namespace lookaside {
namespace {

DeferredFlush* FindNote(KernelContext& k, uint64_t id) {
  const auto note =
      std::ranges::find(k.kernel.deferred, id, &DeferredFlush::id);
  return note == k.kernel.deferred.end() ? nullptr : &*note;
}

// Everyone has swept it, or was told otherwise.
void Retire(KernelContext& k, uint64_t id) {
  const auto place =
      std::ranges::find(k.kernel.deferred, id, &DeferredFlush::id);
  const DeferredFlush note = std::move(*place);
  k.kernel.deferred.erase(place);
  for (const FrameNumber page : note.pages) PutPage(k, page);
  const bool last =
      std::ranges::find(k.kernel.deferred, note.operation,
                        &DeferredFlush::operation) == k.kernel.deferred.end();
  // One that is still under way makes its promise when it returns.
  if (last && note.operation != k.hardware.operation()) {
    k.hardware.Promise(note.operation);
  }
}

// --- sweep_deferred ---

enum SweepStep : uint16_t { kNextNote, kClearMask };

StepResult NextNote(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<SweepLocals>();
  for (const DeferredFlush& note : k.kernel.deferred) {
    if (note.id <= locals.id || !note.awaiting.Has(k.cpu)) continue;
    locals.id = note.id;
    k.Charge(CostKind::kInterrupt, k.costs().latr_sweep);
    ++k.flushes().swept;
    FlushFuncLocals flush;
    flush.info = note.info;
    flush.remote = true;
    flush.acknowledged = true;  // nobody waits
    return k.Call(KernelProgram::kFlushTlbFunc, flush);
  }
  return StepResult::Done();
}

StepResult ClearMask(KernelContext& k, StepFrame& frame) {
  // It may have been settled meanwhile.
  DeferredFlush* const note = FindNote(k, frame.As<SweepLocals>().id);
  if (note != nullptr) note->awaiting.Remove(k.cpu);
  return StepResult::Jump(kNextNote);
}

// --- settle_deferred ---

StepResult FlushOwed(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<SettleLocals>();
  FlushInfo info;
  for (const DeferredFlush& note : k.kernel.deferred) {
    if (!note.Overlaps(locals.mm, locals.first, locals.end)) continue;
    const bool first = locals.last == 0;
    locals.last = note.id;
    info.start =
        first ? note.info.start : std::min(info.start, note.info.start);
    info.end = std::max(info.end, note.info.end);
    info.stride_order =
        first ? note.info.stride_order
              : std::min(info.stride_order, note.info.stride_order);
    info.vm_flags |= note.info.vm_flags;
  }
  if (locals.last == 0) return StepResult::Done();
  info.mm = locals.mm;
  return CallFlush(k, info);
}

StepResult RetireOwed(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SettleLocals>();
  for (;;) {
    const auto note =
        std::ranges::find_if(k.kernel.deferred, [&](const DeferredFlush& n) {
          return n.id <= locals.last &&
                 n.Overlaps(locals.mm, locals.first, locals.end);
        });
    if (note == k.kernel.deferred.end()) return StepResult::Done();
    Retire(k, note->id);
  }
}

// --- scheduler_tick ---

struct TickLocals {
  bool user_mode = false;  // before
  uint8_t unused[7] = {};
};

enum TickStep : uint16_t { kEnter, kSweep, kOpen, kReclaim, kAgain, kLeave };

StepResult EnterTick(KernelContext& k, StepFrame& frame) {
  frame.As<TickLocals>().user_mode = k.tlb().user_mode;
  k.hardware.SetInterruptsOff(k.cpu, true);
  EnterKernel(k);
  return StepResult::Next();
}

StepResult Sweep(KernelContext& k, StepFrame&) { return CallSweep(k); }

StepResult OpenInterrupts(KernelContext& k, StepFrame&) {
  k.hardware.SetInterruptsOff(k.cpu, false);
  return StepResult::Next();
}

StepResult Reclaim(KernelContext& k, StepFrame&) {
  const Cycles now = k.hardware.clock(k.cpu);
  for (const DeferredFlush& note : k.kernel.deferred) {
    if (note.owner != k.cpu || note.TickAfter(2, k.rules().tick) > now) {
      continue;
    }
    if (!note.awaiting.empty()) {
      return CallSettle(k, note.info.mm, note.info.start, note.info.end);
    }
    Retire(k, note.id);
    return StepResult::Jump(kReclaim);
  }
  return StepResult::Jump(kLeave);
}

StepResult Again(KernelContext&, StepFrame&) {
  return StepResult::Jump(kReclaim);
}

StepResult LeaveTick(KernelContext& k, StepFrame& frame) {
  if (frame.As<TickLocals>().user_mode) ReturnToUser(k);
  return StepResult::Done();
}

constexpr KernelStep kSweepSteps[] = {
    {.name = "next",
     .cell = kCellDeferred,
     .access = StepAccess::kRead,
     .fence = StepFence::kAcquire,
     .text =
         "the next note to this CPU: call flush_tlb_func; none left: return",
     .run = &NextNote},
    {.name = "clear_mask",
     .cell = kCellDeferred,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kRelease,
     .text = "this CPU has swept it; next",
     .run = &ClearMask}};

constexpr KernelStep kSettleSteps[] = {
    {.name = "flush",
     .cell = kCellDeferred,
     .access = StepAccess::kRead,
     .fence = StepFence::kAcquire,
     .text = "flush all that the range's notes are about; none: return",
     .run = &FlushOwed},
    {.name = "retire",
     .cell = kCellDeferred,
     .access = StepAccess::kWrite,
     .text = "take these notes away and free their pages; return",
     .run = &RetireOwed}};

constexpr KernelStep kTickSteps[] = {
    {.name = "enter",
     .text = "into the handler, interrupts off",
     .run = &EnterTick},
    {.name = "sweep", .text = "call sweep_deferred", .run = &Sweep},
    {.name = "open", .text = "interrupts on", .run = &OpenInterrupts},
    {.name = "reclaim",
     .cell = kCellDeferred,
     .access = StepAccess::kRead,
     .fence = StepFence::kAcquire,
     .text = "a note of this CPU's from two ticks ago: free its pages; where "
             "someone has not swept it, call settle_deferred; none left: leave",
     .run = &Reclaim},
    {.name = "again", .text = "go back to reclaim", .run = &Again},
    {.name = "leave",
     .text = "back to what was interrupted",
     .run = &LeaveTick}};
static_assert(std::size(kTickSteps) == kLeave + 1);

}  // namespace

bool HasRoomToDefer(const KernelContext& k) {
  const auto left =
      std::ranges::count(k.kernel.deferred, k.cpu, &DeferredFlush::owner);
  return static_cast<size_t>(left) < kMostDeferred;
}

void DeferFlush(KernelContext& k, const FlushPayload& payload) {
  k.Charge(CostKind::kFlushSend, k.costs().latr_save);
  ++k.flushes().deferred;
  DeferredFlush note;
  note.id = ++k.kernel.last_deferred;
  note.info = payload.info;
  note.owner = k.cpu;
  note.saved = k.hardware.clock(k.cpu);
  payload.targets.ForEach([&](CpuId target) {
    note.saved = std::max(note.saved, k.hardware.clock(target));
  });
  note.operation = k.hardware.operation();
  note.awaiting = payload.targets;
  note.pages = k.kernel.gathers[payload.gather].TakePages();
  k.kernel.deferred.push_back(std::move(note));
}

StepResult CallSettle(KernelContext& k, MmId mm, VirtPage first, VirtPage end) {
  if (k.kernel.deferred.empty()) return StepResult::Next();
  return k.Call(KernelProgram::kSettleDeferred,
                SettleLocals{mm, 0, first, end, 0});
}

StepResult CallSweep(KernelContext& k) {
  if (k.kernel.deferred.empty()) return StepResult::Next();
  return k.Call(KernelProgram::kSweepDeferred, SweepLocals{});
}

const KernelSteps kSweepDeferredProgram = {
    "sweep_deferred", "latr: the flushes that others left to this CPU",
    kSweepSteps};
const KernelSteps kSettleDeferredProgram = {
    "settle_deferred", "latr: the flushes of a range, now", kSettleSteps};
const KernelSteps kSchedulerTickProgram = {
    "scheduler_tick", "latr: sweep, and free what all have swept", kTickSteps};

}  // namespace lookaside
