// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/entry_use.h"

namespace lookaside {
namespace {

// Whether the address space `ctx_id` has no changes after `tlb_gen`.
bool IsUpToDate(const KernelState& kernel, const AsidContext& context) {
  for (uint32_t slot = 0; slot < kernel.mms.end(); ++slot) {
    if (!kernel.mms.Has(slot)) continue;
    const Mm& mm = kernel.mms[slot];
    if (mm.ctx_id == context.ctx_id) return mm.tlb_gen <= context.tlb_gen;
  }
  return false;  // it is gone, and its number is never used again
}

// Whether an address space has the global ASID, which no switch flushes.
bool IsAssigned(const KernelState& kernel, uint16_t asid) {
  for (uint32_t slot = 0; slot < kernel.mms.end(); ++slot) {
    if (kernel.mms.Has(slot) && kernel.mms[slot].global_asid == asid) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool CanUseEntries(const KernelState& kernel, CpuId cpu, Pcid pcid,
                   bool loaded) {
  if (cpu.value() >= kernel.tlb_states.size()) return loaded;
  const TlbState& tlb = kernel.tlb_states[cpu.value()];
  if (loaded) return !tlb.is_lazy;
  const uint16_t number = pcid.value() & static_cast<uint16_t>(~kUserPcidBit);
  if (!kernel.rules.pcid || number == 0) return false;
  const auto asid = static_cast<uint16_t>(number - 1);
  if (IsGlobalAsid(asid)) return IsAssigned(kernel, asid);
  const bool user_half = (pcid.value() & kUserPcidBit) != 0;
  if (user_half && (tlb.user_pcid_flush_mask >> asid & 1) != 0) return false;
  // Pages that are owed are looked at again when they have been flushed.
  if (user_half && asid == tlb.loaded_asid && tlb.owes_user_pages()) {
    return false;
  }
  if (asid == tlb.loaded_asid) return !tlb.is_lazy;
  if (tlb.invalidate_other) return false;
  const AsidContext& context = tlb.contexts[asid];
  return context.ctx_id != 0 && IsUpToDate(kernel, context);
}

}  // namespace lookaside
