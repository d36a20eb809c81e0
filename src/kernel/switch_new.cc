// SPDX-License-Identifier: Apache-2.0
//
// switch_mm_irqs_off with generations and ASIDs: Linux 4.14, 5.13 and 6.15
// (arch/x86/mm/tlb.c).
#include "lookaside/base/check.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/switch_steps.h"

namespace lookaside {
namespace {

// The kernel's own address space takes part in the choice of ASIDs.
constexpr uint64_t kInitCtxId = 1;
constexpr uint64_t kInitTlbGen = 1;

enum SwitchStep : uint16_t {
  kCompare,
  kSentinel,
  kClearMask,
  kSetMask,
  kReadGen,
  kLoad,
  kSetLoaded,
  kRereadGen,
};

StepResult Compare(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<SwitchLocals>();
  TlbState& tlb = k.tlb();
  BeginSwitch(k, locals);
  const bool was_lazy = tlb.is_lazy;
  tlb.is_lazy = false;
  if (locals.next != tlb.loaded_mm) return StepResult::Next();
  // Others spared this CPU while it was lazy.
  if (was_lazy && k.rules().lazy == LazyMode::kSkip && locals.next != kNoMm) {
    return StepResult::Jump(kRereadGen);
  }
  return EndSwitch(k, locals);
}

StepResult Sentinel(KernelContext& k, StepFrame&) {
  k.tlb().switching = k.rules().concurrent;
  return StepResult::Next();
}

StepResult ClearMask(KernelContext& k, StepFrame& frame) {
  const MmId prev = frame.As<SwitchLocals>().prev;
  if (prev != kNoMm && !k.rules().trims_cpumask) {
    k.kernel.mm(prev).cpumask.Remove(k.cpu);
  }
  return StepResult::Next();
}

StepResult SetMask(KernelContext& k, StepFrame& frame) {
  const MmId next = frame.As<SwitchLocals>().next;
  if (next != kNoMm) k.kernel.mm(next).cpumask.Add(k.cpu);
  return StepResult::Next();
}

StepResult ReadGen(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<SwitchLocals>();
  locals.gen =
      locals.next == kNoMm ? kInitTlbGen : k.kernel.mm(locals.next).tlb_gen;
  return StepResult::Next();
}

// Broadcasts keep it up to date: it is never flushed.
StepResult LoadGlobal(KernelContext& k, MmId next, uint16_t asid) {
  const absl::Status loaded = LoadCr3(k, next, asid, /*flush=*/false);
  if (!loaded.ok()) return k.Fail(loaded);
  SetLoadedAsid(k, asid);
  return StepResult::Next();
}

StepResult Load(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SwitchLocals>();
  TlbState& tlb = k.tlb();
  const uint64_t ctx_id =
      locals.next == kNoMm ? kInitCtxId : k.kernel.mm(locals.next).ctx_id;
  const uint16_t global_asid =
      locals.next == kNoMm ? uint16_t{0} : k.kernel.mm(locals.next).global_asid;
  if (global_asid != 0) return LoadGlobal(k, locals.next, global_asid);
  const AsidChoice choice = ChooseAsid(k, ctx_id, locals.gen);
  const absl::Status loaded =
      LoadCr3(k, locals.next, choice.asid, choice.flush);
  if (!loaded.ok()) return k.Fail(loaded);
  AsidContext& context = tlb.contexts[choice.asid];
  if (choice.flush || context.ctx_id != ctx_id) context = {ctx_id, locals.gen};
  SetLoadedAsid(k, choice.asid);
  return StepResult::Next();
}

StepResult SetLoaded(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SwitchLocals>();
  SetLoadedMm(k, locals.next);
  return EndSwitch(k, locals);
}

StepResult RereadGen(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<SwitchLocals>();
  TlbState& tlb = k.tlb();
  const Mm& mm = k.kernel.mm(locals.next);
  if (IsGlobalAsid(tlb.loaded_asid)) return EndSwitch(k, locals);
  if (mm.global_asid != 0) {
    const StepResult loaded = LoadGlobal(k, locals.next, mm.global_asid);
    return loaded.action == StepAction::kFail ? loaded : EndSwitch(k, locals);
  }
  AsidContext& context = tlb.contexts[tlb.loaded_asid];
  if (context.tlb_gen == mm.tlb_gen) return EndSwitch(k, locals);
  const absl::Status loaded =
      LoadCr3(k, locals.next, tlb.loaded_asid, /*flush=*/true);
  if (!loaded.ok()) return k.Fail(loaded);
  context.tlb_gen = mm.tlb_gen;
  return EndSwitch(k, locals);
}

constexpr KernelStep kSwitch[] = {
    {.name = "compare",
     .cell = kCellIsLazy,
     .access = StepAccess::kWrite,
     .text = "no longer lazy; if that address space is loaded: return, or "
             "reread_gen if flushes spared this CPU",
     .run = &Compare},
    {.name = "sentinel",
     .cell = kCellLoadedMm,
     .access = StepAccess::kWrite,
     .text = "5.13: loaded_mm says: switching",
     .run = &Sentinel},
    {.name = "clear_mask",
     .cell = kCellCpumask,
     .access = StepAccess::kAtomic,
     .text = "out of the previous one's cpumask (6.13: not yet)",
     .run = &ClearMask},
    {.name = "set_mask",
     .cell = kCellCpumask,
     .access = StepAccess::kAtomic,
     .fence = StepFence::kFull,
     .text = "into the next one's cpumask: flushes from here on tell this CPU",
     .run = &SetMask},
    {.name = "read_gen",
     .cell = kCellTlbGen,
     .access = StepAccess::kRead,
     .text = "its generation",
     .run = &ReadGen},
    {.name = "load_cr3",
     .text = "choose an ASID; load the table, and flush if the ASID was "
             "another's or is behind",
     .run = &Load},
    {.name = "set_loaded",
     .cell = kCellLoadedMm,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "loaded_mm says: the next one; return",
     .run = &SetLoaded},
    {.name = "reread_gen",
     .cell = kCellTlbGen,
     .access = StepAccess::kRead,
     .fence = StepFence::kFull,
     .text = "if the ASID is behind: flush it; return",
     .run = &RereadGen},
};
static_assert(std::size(kSwitch) == kRereadGen + 1);

}  // namespace

const KernelSteps kSwitchMmProgram414 = {
    "switch_mm_irqs_off", "4.14: to another address space, by ASID", kSwitch};

}  // namespace lookaside
