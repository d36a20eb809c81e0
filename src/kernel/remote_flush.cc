// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/remote_flush.h"

#include <algorithm>
#include <cstdint>

#include "lookaside/kernel/global_asids.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/tlb/invalidation.h"

namespace lookaside {
namespace {

class IpiFlush final : public RemoteFlush {
 public:
  bool Broadcast(KernelContext&, const FlushInfo&) const override {
    return false;
  }
  bool BroadcastBatch(KernelContext&) const override { return false; }
  void AfterInterrupts(KernelContext&, MmId) const override {}
};

class InvlpgbFlush final : public RemoteFlush {
 public:
  bool Broadcast(KernelContext& k, const FlushInfo& info) const override {
    Mm& mm = k.kernel.mm(info.mm);
    if (mm.global_asid == 0) return false;
    Drop(k, KernelPcid(k.rules(), mm.global_asid), info);
    if (k.rules().kpti) {
      Drop(k, UserPcid(k.rules(), mm.global_asid), info);
    }
    k.hardware.SyncBroadcasts(k.cpu);
    mm.asid_transition = mm.asid_transition && !AllHaveIt(k, info.mm);
    return !mm.asid_transition;
  }

  bool BroadcastBatch(KernelContext& k) const override {
    DropAll(k);
    return true;
  }

  void AfterInterrupts(KernelContext& k, MmId id) const override {
    Mm& mm = k.kernel.mm(id);
    if (mm.global_asid != 0 || ++mm.ipi_flushes < kExaminedEvery) return;
    mm.ipi_flushes = 0;
    if (ActiveOn(k, id) <= kActiveAtMost) return;
    const auto choice = k.kernel.global_asids.Allocate();
    if (!choice) return;
    if (choice->rolled_over && k.rules().Fixed(KernelFix::kRolloverFlush)) {
      DropAll(k);
    }
    mm.global_asid = choice->asid;
    mm.asid_transition = true;
  }

 private:
  static constexpr uint32_t kExaminedEvery = 32;
  static constexpr size_t kActiveAtMost = 3;
  static constexpr uint64_t kPagesAtOnce = 8;  // invlpgb_count_max

  static void Drop(KernelContext& k, Pcid pcid, const FlushInfo& info) {
    if (info.all) {
      return k.hardware.Invalidate(
          k.cpu, lookaside::Broadcast{.scope = BroadcastScope::kContext,
                                      .pcid = pcid,
                                      .page = VirtPage(0)});
    }
    const uint64_t strides = info.strides();
    for (uint64_t done = 0; done < strides; done += kPagesAtOnce) {
      const uint64_t count = std::min(kPagesAtOnce, strides - done);
      k.hardware.Invalidate(
          k.cpu,
          lookaside::Broadcast{.scope = BroadcastScope::kPages,
                               .pcid = pcid,
                               .page = VirtPage(info.start.value() +
                                                (done << info.stride_order)),
                               .count = static_cast<uint32_t>(count),
                               .stride_order = info.stride_order});
    }
  }

  static void DropAll(KernelContext& k) {
    k.hardware.Invalidate(k.cpu, lookaside::Broadcast{});
    k.hardware.SyncBroadcasts(k.cpu);
  }

  // Whether every CPU that runs it does so under its global ASID.
  static bool AllHaveIt(KernelContext& k, MmId id) {
    const Mm& mm = k.kernel.mm(id);
    bool all = true;
    mm.cpumask.ForEach([&](CpuId cpu) {
      const TlbState& tlb = k.kernel.tlb(cpu);
      all = all && !tlb.switching &&
            (tlb.loaded_mm != id || tlb.loaded_asid == mm.global_asid);
    });
    return all;
  }

  static size_t ActiveOn(KernelContext& k, MmId id) {
    size_t active = 0;
    k.kernel.mm(id).cpumask.ForEach(
        [&](CpuId cpu) { active += k.kernel.tlb(cpu).loaded_mm == id; });
    return active;
  }
};

}  // namespace

const RemoteFlush& RemoteFlushOf(const KernelRules& rules) {
  static const IpiFlush kIpi;
  static const InvlpgbFlush kInvlpgb;
  if (rules.broadcast) return kInvlpgb;
  return kIpi;
}

}  // namespace lookaside
