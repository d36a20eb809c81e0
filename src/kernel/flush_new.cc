// SPDX-License-Identifier: Apache-2.0
//
// Flushes with generations: Linux 4.14, 5.13 and 6.15 (arch/x86/mm/tlb.c).
//
// Every flush raises mm.tlb_gen after the entries were written and before
// anyone is told. A CPU that is told flushes the pages alone only if that
// brings it from the generation just before to the latest one; else it drops
// everything and is as new as the latest it read. So flushes that were
// overtaken cost nothing, and none is lost.
//
// Left out: the scan that trims the cpumask once a second (6.13).
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/kernel/remote_flush.h"
#include "lookaside/kernel/switch_steps.h"
#include "lookaside/machine/check_counters.h"

namespace lookaside {
namespace {

using namespace flush_steps;  // NOLINT: the steps of this file's tables

StepResult BumpGen(KernelContext& k, StepFrame& frame) {
  FlushPayload& payload = PayloadOf(k, frame);
  payload.info.new_tlb_gen = ++k.kernel.mm(payload.info.mm).tlb_gen;
  return StepResult::Next();
}

StepResult Broadcast(KernelContext& k, StepFrame& frame) {
  const FlushPayload& payload = PayloadOf(k, frame);
  if (!RemoteFlushOf(k.rules()).Broadcast(k, payload.info)) {
    return StepResult::Next();
  }
  ++k.flushes().broadcasts;
  return Finish(k, frame);
}

StepResult Consider(KernelContext& k, StepFrame& frame) {
  const FlushPayload& payload = PayloadOf(k, frame);
  if (!payload.targets.empty()) {
    RemoteFlushOf(k.rules()).AfterInterrupts(k, payload.info.mm);
  }
  return StepResult::Next();
}

StepResult BroadcastBatch(KernelContext& k, StepFrame& frame) {
  if (!RemoteFlushOf(k.rules()).BroadcastBatch(k)) return StepResult::Next();
  ++k.flushes().broadcasts;
  return Finish(k, frame);
}

StepResult CallFlushFunc(KernelContext& k, StepFrame& frame) {
  FlushFuncLocals locals;
  locals.info = PayloadOf(k, frame).info;
  locals.payload = frame.As<FlushLocals>().payload;
  return k.Call(KernelProgram::kFlushTlbFunc, locals);
}

StepResult FlushHere(KernelContext& k, StepFrame& frame) {
  const FlushInfo& info = PayloadOf(k, frame).info;
  const TlbState& tlb = k.tlb();
  const bool concerns =
      info.mm == kNoMm ? tlb.loaded_mm != kNoMm : tlb.loaded_mm == info.mm;
  return concerns ? CallFlushFunc(k, frame) : StepResult::Next();
}

// should_flush_tlb of 6.15; 5.13 asks for laziness alone.
bool MustTell(KernelContext& k, const FlushInfo& info, CpuId target) {
  const KernelRules& rules = k.rules();
  const bool tables = info.freed_tables;
  if (tables && rules.Fixed(KernelFix::kLazyFreedTables)) return true;
  const TlbState& tlb = k.kernel.tlb(target);
  if (tlb.is_lazy && rules.lazy == LazyMode::kSkip) return false;
  if (tables || !rules.trims_cpumask || info.mm == kNoMm) return true;
  if (tlb.switching) return rules.Fixed(KernelFix::kSwitchingSentinel);
  return tlb.loaded_mm == info.mm;
}

StepResult Filter(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<FlushLocals>();
  FlushPayload& payload = PayloadOf(k, frame);
  const CpuSet targets = payload.targets;
  bool again = false;
  targets.ForEach([&](CpuId target) {
    if (again || target.value() < locals.next) return;
    locals.next = target.value() + 1;
    if (!MustTell(k, payload.info, target)) {
      payload.targets.Remove(target);
      ++k.flushes().ipis_avoided;
    }
    again = k.split;
  });
  return again ? StepResult::Again() : StepResult::Next();
}

// --- flush_tlb_func ---

enum FuncStep : uint16_t { kCheckMm, kEarlyAck, kReadGen, kFlush, kAck };

StepResult CheckMm(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<FlushFuncLocals>();
  TlbState& tlb = k.tlb();
  const MmId mm = locals.info.mm;
  if (locals.remote && mm != kNoMm && mm != tlb.loaded_mm) {
    if (k.rules().trims_cpumask) k.kernel.mm(mm).cpumask.Remove(k.cpu);
    ++k.flushes().skipped;
    return StepResult::Jump(kAck);
  }
  if (tlb.loaded_mm == kNoMm) return StepResult::Jump(kAck);
  if (tlb.is_lazy) return k.Call(KernelProgram::kSwitchMm, SwitchLocals{});
  const uint16_t global_asid = k.kernel.mm(tlb.loaded_mm).global_asid;
  if (global_asid != 0 && tlb.loaded_asid != global_asid) {
    const absl::Status loaded =
        LoadCr3(k, tlb.loaded_mm, global_asid, /*flush=*/false);
    if (!loaded.ok()) return k.Fail(loaded);
    SetLoadedAsid(k, global_asid);
  }
  return StepResult::Next();
}

StepResult ReadGen(KernelContext& k, StepFrame& frame) {
  const TlbState& tlb = k.tlb();
  if (tlb.loaded_mm == kNoMm) return StepResult::Jump(kAck);  // it has left
  // A global ASID is kept up to date by broadcasts.
  if (IsGlobalAsid(tlb.loaded_asid)) return StepResult::Jump(kAck);
  frame.As<FlushFuncLocals>().mm_gen = k.kernel.mm(tlb.loaded_mm).tlb_gen;
  return StepResult::Next();
}

// C5: a generation is claimed only by whoever has flushed all that led to it,
// and never one that has not been.
void CheckClaim(KernelContext& k, const FlushFuncLocals& locals,
                uint64_t local_gen, bool partial) {
  const uint64_t latest = k.kernel.mm(k.tlb().loaded_mm).tlb_gen;
  const uint64_t claimed = locals.mm_gen;
  const bool pages_are_all = locals.info.new_tlb_gen == local_gen + 1 &&
                             locals.info.new_tlb_gen == claimed;
  const bool kept =
      claimed > local_gen && claimed <= latest && (!partial || pages_are_all);
  if (kept) return;
  k.hardware.ReportViolation({Check::kC5, k.cpu, locals.info.start, Cycles(),
                              "a claim of a generation"});
}

// The catch-up rule. L: what this CPU has flushed; M: the latest; F: this one.
StepResult Flush(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<FlushFuncLocals>();
  const KernelRules& rules = k.rules();
  TlbState& tlb = k.tlb();
  uint64_t& local_gen = tlb.contexts[tlb.loaded_asid].tlb_gen;
  const uint64_t this_gen = locals.info.new_tlb_gen;
  const uint64_t mm_gen = locals.mm_gen;
  const bool covered = this_gen != 0 && this_gen <= local_gen;
  if (covered || local_gen == mm_gen) {
    k.flushes().skipped += locals.remote;
    return StepResult::Next();
  }
  const bool no_gap =
      this_gen == local_gen + 1 || !rules.Fixed(KernelFix::kNoGap);
  const bool no_overclaim =
      this_gen == mm_gen || !rules.Fixed(KernelFix::kNoOverclaim);
  const bool partial =
      !locals.info.all && this_gen != 0 && no_gap && no_overclaim;
  FlushLoaded(k, locals.info, !partial, locals.remote);
  CheckClaim(k, locals, local_gen, partial);
  local_gen = mm_gen;
  return StepResult::Next();
}

// --- arch_tlbbatch_flush ---

StepResult ReadBatch(KernelContext& k, StepFrame& frame) {
  TlbState& tlb = k.tlb();
  FlushPayload& payload = PayloadOf(k, frame);
  ++k.flushes().requests;
  payload.targets = tlb.batch;
  tlb.batch.Clear();
  payload.info.mm = kNoMm;
  payload.info.all = true;
  return StepResult::Next();
}

StepResult FlushBatchHere(KernelContext& k, StepFrame& frame) {
  FlushPayload& payload = PayloadOf(k, frame);
  if (!payload.targets.Has(k.cpu)) return StepResult::Next();
  payload.targets.Remove(k.cpu);
  return FlushHere(k, frame);
}

constexpr KernelStep kBumpGenStep = {.name = "bump_gen",
                                     .cell = kCellTlbGen,
                                     .access = StepAccess::kAtomic,
                                     .fence = StepFence::kFull,
                                     .text = "tlb_gen + 1 is this flush's",
                                     .run = &BumpGen};
constexpr KernelStep kPrivateStep = {
    .name = "private",
    .text = "abis: if only this CPU may have it: plan, flush here, return",
    .run = &FlushPrivate};
constexpr KernelStep kPlanStep = {
    .name = "plan",
    .text = "the policy chooses single pages or all",
    .run = &Plan};
constexpr KernelStep kFlushHereStep = {
    .name = "flush_here",
    .text = "if this CPU has it loaded: call flush_tlb_func",
    .run = &FlushHere};
constexpr KernelStep kReadCpumaskStep = {
    .name = "read_cpumask",
    .cell = kCellCpumask,
    .access = StepAccess::kRead,
    .text = "targets: its other CPUs; abis: those that may have it",
    .run = &ReadCpumask};
constexpr KernelStep kDeferStep = {
    .name = "defer",
    .cell = kCellDeferred,
    .access = StepAccess::kWrite,
    .fence = StepFence::kRelease,
    .text =
        "where the policy says so: leave it to the targets' next tick "
        "instead, and let the gather's pages wait",
    .run = &Defer};
constexpr KernelStep kSendStep = {.name = "send",
                                  .cell = kCellCall,
                                  .access = StepAccess::kWrite,
                                  .fence = StepFence::kRelease,
                                  .text = "interrupt the targets",
                                  .run = &Send};
constexpr KernelStep kWaitStep = {
    .name = "wait",
    .cell = kCellAck,
    .access = StepAccess::kRead,
    .fence = StepFence::kAcquire,
    .text = "wait until every target has acknowledged",
    .run = &WaitForAcks};
constexpr KernelStep kFinishStep = {
    .name = "finish", .text = "return", .run = &Finish};
constexpr KernelStep kLazyFilterStep = {
    .name = "filter",
    .cell = kCellIsLazy,
    .access = StepAccess::kRead,
    .splittable = true,
    .text = "spare lazy CPUs, unless tables are freed",
    .run = &Filter};

constexpr KernelStep kBroadcastStep = {
    .name = "broadcast",
    .text =
        "INVLPGB: to the global ASID, if it has one, and TLBSYNC; return, "
        "unless a CPU may still have a dynamic one",
    .run = &Broadcast};
constexpr KernelStep kConsiderStep = {
    .name = "consider_global_asid",
    .text =
        "INVLPGB: every 32nd time, give a global ASID to what runs on more "
        "than three CPUs",
    .run = &Consider};

constexpr KernelStep kFlush414[] = {
    kBumpGenStep, kPlanStep, kFlushHereStep, kReadCpumaskStep,
    kDeferStep,   kSendStep, kWaitStep,      kFinishStep};
constexpr KernelStep kFlush513[] = {
    kPrivateStep,    kBumpGenStep, kPlanStep, kReadCpumaskStep,
    kLazyFilterStep, kDeferStep,   kSendStep, kFlushHereStep,
    kWaitStep,       kFinishStep};
constexpr KernelStep kFlush615[] = {
    kPrivateStep,
    kBumpGenStep,
    kPlanStep,
    kBroadcastStep,
    kReadCpumaskStep,
    {.name = "filter",
     .cell = kCellLoadedMm,
     .access = StepAccess::kRead,
     .splittable = true,
     .text = "spare lazy CPUs and those that have left it, unless tables are "
             "freed or the CPU is switching",
     .run = &Filter},
    kDeferStep,
    kSendStep,
    kFlushHereStep,
    kWaitStep,
    kConsiderStep,
    kFinishStep};

constexpr KernelStep kFunc[] = {
    {.name = "check_mm",
     .cell = kCellCpumask,
     .access = StepAccess::kAtomic,
     .text = "if another address space is loaded: (6.13: out of the cpumask) "
             "ack; if lazily: switch to the kernel's own",
     .run = &CheckMm},
    {.name = "early_ack",
     .cell = kCellAck,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "acknowledge already, where the policy says so",
     .run = &EarlyAck},
    {.name = "read_gen",
     .cell = kCellTlbGen,
     .access = StepAccess::kRead,
     .fence = StepFence::kAcquire,
     .text = "M: the latest generation",
     .run = &ReadGen},
    {.name = "flush",
     .text =
         "nothing if F <= L or L = M; the pages if F = L + 1 = M; else all; "
         "then L is M",
     .run = &Flush},
    {.name = "ack",
     .cell = kCellAck,
     .access = StepAccess::kWrite,
     .fence = StepFence::kRelease,
     .text = "acknowledge, if remote",
     .run = &Ack}};

constexpr KernelStep kBatch[] = {
    {.name = "read_batch",
     .text = "targets: the CPUs that reclaim has noted",
     .run = &ReadBatch},
    {.name = "broadcast",
     .text = "INVLPGB: drop everything everywhere; return",
     .run = &BroadcastBatch},
    {.name = "flush_here",
     .text = "if this CPU is one of them: call flush_tlb_func",
     .run = &FlushBatchHere},
    kLazyFilterStep,
    kSendStep,
    kWaitStep,
    kFinishStep};

}  // namespace

const KernelSteps kFlushProgram414 = {
    "flush_tlb_mm_range", "4.14: generations; the initiator first", kFlush414};
const KernelSteps kFlushProgram513 = {
    "flush_tlb_mm_range",
    "5.13: the initiator while the others do; lazy CPUs are spared", kFlush513};
const KernelSteps kFlushProgram615 = {
    "flush_tlb_mm_range",
    "6.15: CPUs that have left the address space are spared too", kFlush615};
const KernelSteps kFlushFuncProgram414 = {
    "flush_tlb_func", "4.14: the catch-up rule, here and on a target", kFunc};
const KernelSteps kFlushBatchProgram = {
    "arch_tlbbatch_flush", "one flush for all that reclaim has unmapped",
    kBatch};

}  // namespace lookaside
