// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/flush_steps.h"

#include <algorithm>

#include "lookaside/base/check.h"
#include "lookaside/kernel/deferred_steps.h"
#include "lookaside/kernel/flush_prices.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/pagetable/page_table.h"

namespace lookaside {
namespace {

// Whether a large page is mapped at a 2M boundary within the range: Linux 3.6
// has_large_page. One that begins before the range is not seen.
bool HasLargePage(KernelContext& k, const FlushInfo& info) {
  const uint64_t large = PagesIn(PageSize::k2M);
  const Mm& mm = k.kernel.mm(info.mm);
  uint64_t page = (info.start.value() + large - 1) / large * large;
  for (; page < info.end.value(); page += large) {
    const auto found = mm.table.Lookup(k.tables(), VirtPage(page));
    k.Work(k.costs().pte);
    if (found && found->leaf.size != PageSize::k4K) return true;
  }
  return false;
}

// Before generations, a CPU that does not run the address space cannot judge
// the range, and tells the others to drop all of it; one page goes alone
// wherever it comes from (flush_tlb_page).
FlushPlan PlanOf(KernelContext& k, const FlushPayload& payload) {
  const FlushInfo& info = payload.info;
  if (!k.rules().generations) {
    if ((info.vm_flags & FlushInfo::kPage) != 0) return {};
    const TlbState& tlb = k.tlb();
    if (tlb.loaded_mm != info.mm || tlb.is_lazy) return {.full = true};
  }
  const auto has_large_page = [&] { return HasLargePage(k, info); };
  const auto prices = [&] { return PricesOf(k, info); };
  return k.kernel.policy->Plan({info, k.kernel.mm(info.mm).vmas.total_vm(),
                                has_large_page, payload.may_defer, prices});
}

void Acknowledge(KernelContext& k, FlushFuncLocals& locals) {
  if (!locals.remote || locals.acknowledged) return;
  locals.acknowledged = true;
  FlushPayload& payload = k.kernel.payloads[locals.payload];
  payload.awaiting.Remove(k.cpu);
  const Cycles seen = k.hardware.clock(k.cpu) +
                      k.hardware.Acknowledgement(payload.initiator, k.cpu);
  payload.latest = std::max(payload.latest, seen);
}

}  // namespace

StepResult CallFlush(KernelContext& k, const FlushInfo& info) {
  FlushPayload payload;
  payload.info = info;
  payload.initiator = k.cpu;
  const uint32_t index = k.kernel.payloads.Add(payload);
  return k.Call(KernelProgram::kFlushTlbMmRange, FlushLocals{index, 0});
}

StepResult CallFlushOfGather(KernelContext& k, const FlushInfo& info,
                             uint32_t index) {
  const MmuGather& gather = k.kernel.gathers[index];
  FlushPayload payload;
  payload.info = info;
  payload.initiator = k.cpu;
  payload.may_defer = gather.may_defer();
  payload.gather = index;
  if (k.rules().tracks_holders) payload.holders = gather.holders();
  return k.Call(KernelProgram::kFlushTlbMmRange,
                FlushLocals{k.kernel.payloads.Add(payload), 0});
}

StepResult CallFlushPage(KernelContext& k, MmId mm, VirtPage page) {
  FlushInfo info;
  info.mm = mm;
  info.start = page;
  info.end = VirtPage(page.value() + 1);
  info.vm_flags = FlushInfo::kPage;
  return CallFlush(k, info);
}

FlushPayload& PayloadOf(KernelContext& k, const StepFrame& frame) {
  return k.kernel.payloads[frame.As<FlushLocals>().payload];
}

namespace flush_steps {

StepResult Plan(KernelContext& k, StepFrame& frame) {
  FlushPayload& payload = PayloadOf(k, frame);
  FlushInfo& info = payload.info;
  FlushCounters& counters = k.flushes();
  ++counters.requests;
  if (!info.all) counters.pages += info.pages();
  const FlushPlan plan = PlanOf(k, payload);
  LOOKASIDE_CHECK(plan.full || !info.all);
  LOOKASIDE_CHECK(payload.may_defer || !plan.defer);
  info.all = plan.full;
  payload.defer = plan.defer;
  payload.early_ack = plan.early_ack && !info.freed_tables;
  return StepResult::Next();
}

// Without a generation of its own: others have nothing to catch up with.
StepResult FlushPrivate(KernelContext& k, StepFrame& frame) {
  const FlushPayload& payload = PayloadOf(k, frame);
  if (!payload.holders) return StepResult::Next();
  // Its broadcast costs no more.
  if (k.kernel.mm(payload.info.mm).global_asid != 0) return StepResult::Next();
  CpuSet others = *payload.holders;
  others.Remove(k.cpu);
  const TlbState& tlb = k.tlb();
  if (!others.empty() || tlb.loaded_mm != payload.info.mm || tlb.is_lazy) {
    return StepResult::Next();
  }
  Plan(k, frame);
  FlushLoaded(k, payload.info, payload.info.all, /*remote=*/false);
  CpuSet spared = k.kernel.mm(payload.info.mm).cpumask;
  spared.Remove(k.cpu);
  k.flushes().ipis_avoided += spared.size();
  return Finish(k, frame);
}

StepResult ReadCpumask(KernelContext& k, StepFrame& frame) {
  FlushPayload& payload = PayloadOf(k, frame);
  payload.targets = k.kernel.mm(payload.info.mm).cpumask;
  payload.targets.Remove(k.cpu);
  if (!payload.holders) return StepResult::Next();
  const size_t before = payload.targets.size();
  payload.targets &= *payload.holders;
  k.flushes().ipis_avoided += before - payload.targets.size();
  return StepResult::Next();
}

StepResult Defer(KernelContext& k, StepFrame& frame) {
  FlushPayload& payload = PayloadOf(k, frame);
  if (!payload.defer || payload.targets.empty()) return StepResult::Next();
  if (!HasRoomToDefer(k)) return StepResult::Next();
  DeferFlush(k, payload);
  payload.targets.Clear();
  return StepResult::Next();
}

StepResult Send(KernelContext& k, StepFrame& frame) {
  FlushPayload& payload = PayloadOf(k, frame);
  if (payload.targets.empty()) return StepResult::Next();
  payload.awaiting = payload.targets;
  k.flushes().ipis += payload.targets.size();
  k.Charge(CostKind::kFlushSend, k.costs().ipi_target * payload.targets.size());
  k.hardware.SendIpi(k.cpu, payload.targets, frame.As<FlushLocals>().payload);
  return StepResult::Next();
}

StepResult WaitForAcks(KernelContext& k, StepFrame& frame) {
  const FlushPayload& payload = PayloadOf(k, frame);
  if (!payload.awaiting.empty()) {
    return StepResult::Wait(
        {.what = static_cast<uint16_t>(KernelWait::kAcknowledgements),
         .object = frame.As<FlushLocals>().payload});
  }
  const Cycles now = k.hardware.clock(k.cpu);
  if (payload.latest > now) {
    k.Charge(CostKind::kFlushWait, payload.latest - now);
    k.flushes().wait_cycles += (payload.latest - now).value();
  }
  return StepResult::Next();
}

StepResult Finish(KernelContext& k, StepFrame& frame) {
  k.kernel.payloads.Remove(frame.As<FlushLocals>().payload);
  return StepResult::Done();
}

StepResult EarlyAck(KernelContext& k, StepFrame& frame) {
  auto& locals = frame.As<FlushFuncLocals>();
  // Nobody may look at the payload once the initiator has gone on.
  if (locals.remote && !locals.acknowledged &&
      k.kernel.payloads[locals.payload].early_ack) {
    Acknowledge(k, locals);
  }
  return StepResult::Next();
}

StepResult Ack(KernelContext& k, StepFrame& frame) {
  Acknowledge(k, frame.As<FlushFuncLocals>());
  return StepResult::Done();
}

}  // namespace flush_steps

}  // namespace lookaside
