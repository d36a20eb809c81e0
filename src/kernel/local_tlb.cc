// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/local_tlb.h"

#include <algorithm>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/kernel/kernel_pages.h"
#include "lookaside/tlb/invalidation.h"

namespace lookaside {
namespace {

uint16_t BitOf(uint16_t asid) { return static_cast<uint16_t>(1u << asid); }

bool HasUserPcids(const KernelRules& rules) { return rules.kpti && rules.pcid; }

absl::StatusOr<FrameNumber> RootOf(KernelContext& k, MmId mm) {
  if (mm != kNoMm) return k.kernel.mm(mm).table.root();
  if (!k.kernel.init_table) {
    LOOKASIDE_ASSIGN_OR_RETURN(
        k.kernel.init_table,
        PageTable::Create(k.hardware.memory(), k.hardware.paging_levels(),
                          NodeId(0)));
  }
  return k.kernel.init_table->root();
}

// What a range still needs in the user half, when that is next loaded.
void OweUserPages(KernelContext& k, const FlushInfo& info) {
  TlbState& tlb = k.tlb();
  if ((tlb.user_pcid_flush_mask & BitOf(tlb.loaded_asid)) != 0) return;
  const bool first = !tlb.owes_user_pages();
  tlb.user_first = first ? info.start : std::min(tlb.user_first, info.start);
  tlb.user_end = first ? info.end : std::max(tlb.user_end, info.end);
  tlb.user_stride_order =
      first ? info.stride_order
            : std::min(tlb.user_stride_order, info.stride_order);
  const uint64_t pages =
      (tlb.user_end.value() - tlb.user_first.value()) >> tlb.user_stride_order;
  if (pages > k.rules().ceiling) OweUserHalf(k);
}

// Of the user half, which has just been loaded.
void FlushOwedUserPages(KernelContext& k) {
  TlbState& tlb = k.tlb();
  const uint64_t stride = uint64_t{1} << tlb.user_stride_order;
  for (uint64_t page = tlb.user_first.value(); page < tlb.user_end.value();
       page += stride) {
    k.hardware.Invalidate(
        k.cpu, {InvalidationScope::kInvlpg, VirtPage(page), Pcid(0)});
    ++k.flushes().invlpg;
  }
  tlb.user_first = tlb.user_end = VirtPage();
  k.hardware.FinishLoad(k.cpu);
}

bool FlushesUserHalf(const KernelRules& rules) {
  return HasUserPcids(rules) && rules.Fixed(KernelFix::kUserPcid);
}

// Page by page with the kernel half, rather than on the return to the user.
bool FlushesUserPages(const KernelRules& rules) {
  return FlushesUserHalf(rules) && !rules.flush_in_context;
}

void FlushPage(KernelContext& k, VirtPage page, bool charged) {
  const auto invalidate = [&](InvalidationScope scope, Pcid pcid) {
    const Invalidation invalidation{scope, page, pcid};
    if (charged) {
      k.hardware.Invalidate(k.cpu, invalidation);
    } else {
      k.hardware.InvalidateUncharged(k.cpu, invalidation);
    }
  };
  invalidate(InvalidationScope::kInvlpg, Pcid(0));
  ++k.flushes().invlpg;
  if (!FlushesUserPages(k.rules())) return;
  TlbState& tlb = k.tlb();
  if (k.rules().invpcid) {
    invalidate(InvalidationScope::kInvpcidAddress,
               UserPcid(k.rules(), tlb.loaded_asid));
  } else {
    tlb.user_pcid_flush_mask |= BitOf(tlb.loaded_asid);
  }
}

// The bound pays for no more than one write of CR3.
void FlushPages(KernelContext& k, const FlushInfo& info) {
  const Cycles all = PageFlushCost(k.rules(), k.costs()) * info.strides();
  const bool capped =
      k.rules().policy == FlushPolicyKind::kBound && all > k.costs().cr3_flush;
  const uint64_t stride = uint64_t{1} << info.stride_order;
  for (uint64_t page = info.start.value(); page < info.end.value();
       page += stride) {
    FlushPage(k, VirtPage(page), !capped);
  }
  if (capped) k.Charge(CostKind::kContext, k.costs().cr3_flush);
}

void FlushAll(KernelContext& k, bool remote) {
  TlbState& tlb = k.tlb();
  ++(remote ? k.flushes().full_remote : k.flushes().full_local);
  if (FlushesUserHalf(k.rules())) {
    tlb.user_pcid_flush_mask |= BitOf(tlb.loaded_asid);
  }
  k.hardware.Invalidate(k.cpu, {InvalidationScope::kCr3, VirtPage(0), Pcid(0)});
}

void DropIfDead(KernelContext& k, MmId id) {
  const Mm& mm = k.kernel.mm(id);
  if (!mm.dead || mm.loaded_on != 0) return;
  if (mm.global_asid != 0) k.kernel.global_asids.Free(mm.global_asid);
  const size_t tables = k.tables().size();
  mm.table.Destroy(k.hardware.memory());
  k.kernel.tables_freed += tables - k.tables().size();
  k.kernel.mms.Remove(id.value());
}

void LoadHalf(KernelContext& k, Pcid pcid, ContextLoad load) {
  const TlbState& tlb = k.tlb();
  const FrameNumber root = k.kernel.mm(tlb.loaded_mm).table.root();
  k.hardware.LoadContext(k.cpu, {root, pcid, Vpid(0)}, load);
}

}  // namespace

Cycles PageFlushCost(const KernelRules& rules, const CostModel& costs) {
  const bool both = FlushesUserPages(rules) && rules.invpcid;
  return both ? costs.invlpg + costs.invpcid : costs.invlpg;
}

Pcid KernelPcid(const KernelRules& rules, uint16_t asid) {
  return Pcid(rules.pcid ? static_cast<uint16_t>(asid + 1) : uint16_t{0});
}

Pcid UserPcid(const KernelRules& rules, uint16_t asid) {
  const Pcid kernel = KernelPcid(rules, asid);
  if (!HasUserPcids(rules)) return kernel;
  return Pcid(static_cast<uint16_t>(kernel.value() | kUserPcidBit));
}

absl::Status LoadCr3(KernelContext& k, MmId mm, uint16_t asid, bool flush) {
  LOOKASIDE_ASSIGN_OR_RETURN(const FrameNumber root, RootOf(k, mm));
  if (flush && HasUserPcids(k.rules())) {
    k.tlb().user_pcid_flush_mask |= BitOf(asid);
  }
  k.hardware.LoadContext(k.cpu, {root, KernelPcid(k.rules(), asid), Vpid(0)},
                         flush ? ContextLoad::kFlush : ContextLoad::kNoFlush);
  return absl::OkStatus();
}

AsidChoice ChooseAsid(KernelContext& k, uint64_t ctx_id, uint64_t gen) {
  TlbState& tlb = k.tlb();
  if (!k.rules().pcid) return {0, true};
  if (tlb.invalidate_other) {
    for (uint16_t asid = 0; asid < kDynamicAsids; ++asid) {
      if (asid != tlb.loaded_asid) tlb.contexts[asid].ctx_id = 0;
    }
    tlb.invalidate_other = false;
  }
  for (uint16_t asid = 0; asid < kDynamicAsids; ++asid) {
    if (tlb.contexts[asid].ctx_id != ctx_id) continue;
    return {asid, tlb.contexts[asid].tlb_gen < gen};
  }
  uint16_t asid = tlb.next_asid++;
  if (asid >= kDynamicAsids) {
    asid = 0;
    tlb.next_asid = 1;
  }
  const bool recycled = tlb.contexts[asid].ctx_id != 0;
  return {asid, !recycled || k.rules().Fixed(KernelFix::kFlushRecycledAsid)};
}

void SetLoadedMm(KernelContext& k, MmId mm) {
  TlbState& tlb = k.tlb();
  const MmId before = tlb.loaded_mm;
  tlb.loaded_mm = mm;
  tlb.switching = false;
  if (mm != kNoMm) ++k.kernel.mm(mm).loaded_on;
  if (before == kNoMm) return;
  --k.kernel.mm(before).loaded_on;
  DropIfDead(k, before);
}

void MarkDead(KernelContext& k, MmId mm) {
  k.kernel.mm(mm).dead = true;
  DropIfDead(k, mm);
}

void FlushLoaded(KernelContext& k, const FlushInfo& info, bool full,
                 bool remote) {
  if (full) return FlushAll(k, remote);
  FlushPages(k, info);
  if (k.rules().flush_in_context && k.rules().Fixed(KernelFix::kUserPcid)) {
    OweUserPages(k, info);
  }
}

void OweUserHalf(KernelContext& k) {
  TlbState& tlb = k.tlb();
  tlb.user_first = tlb.user_end = VirtPage();
  tlb.user_pcid_flush_mask |= BitOf(tlb.loaded_asid);
}

void SetLoadedAsid(KernelContext& k, uint16_t asid) {
  TlbState& tlb = k.tlb();
  if (asid != tlb.loaded_asid && tlb.owes_user_pages()) OweUserHalf(k);
  tlb.loaded_asid = asid;
}

void EnterKernel(KernelContext& k) {
  TlbState& tlb = k.tlb();
  if (!tlb.user_mode) return;
  tlb.user_mode = false;
  if (k.rules().kpti) {
    LoadHalf(k, KernelPcid(k.rules(), tlb.loaded_asid),
             k.rules().pcid ? ContextLoad::kNoFlush : ContextLoad::kFlush);
  }
  for (uint32_t i = 0; i < k.rules().footprint; ++i) {
    k.hardware.TouchAsSupervisor(k.cpu, KernelPage(k.rules(), i));
  }
}

void ReturnToUser(KernelContext& k) {
  TlbState& tlb = k.tlb();
  if (tlb.user_mode || tlb.task_mm == kNoMm) return;
  tlb.user_mode = true;
  if (!k.rules().kpti) return;
  const uint16_t bit =
      IsGlobalAsid(tlb.loaded_asid) ? uint16_t{0} : BitOf(tlb.loaded_asid);
  const bool flush = !k.rules().pcid || (tlb.user_pcid_flush_mask & bit) != 0;
  tlb.user_pcid_flush_mask &= static_cast<uint16_t>(~bit);
  const Pcid pcid = UserPcid(k.rules(), tlb.loaded_asid);
  if (flush) {
    tlb.user_first = tlb.user_end = VirtPage();
    LoadHalf(k, pcid, ContextLoad::kFlush);
  } else if (tlb.owes_user_pages()) {
    LoadHalf(k, pcid, ContextLoad::kNoFlushYet);
    FlushOwedUserPages(k);
  } else {
    LoadHalf(k, pcid, ContextLoad::kNoFlush);
  }
}

}  // namespace lookaside
