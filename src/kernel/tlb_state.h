// SPDX-License-Identifier: Apache-2.0
//
// What the kernel knows of the translations of one hardware thread (Linux
// struct tlb_state, arch/x86/include/asm/tlbflush.h), and which address space
// the task on it has.
//
// Invariant of 4.14 on: the entries tagged with ASID a are of the address
// space contexts[a].ctx_id and none is older than its generation
// contexts[a].tlb_gen.
//
// A value: comparable, hashable.
#ifndef LOOKASIDE_KERNEL_TLB_STATE_H_
#define LOOKASIDE_KERNEL_TLB_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "lookaside/base/address.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/mm_id.h"

namespace lookaside {

inline constexpr uint16_t kDynamicAsids = 6;  // TLB_NR_DYN_ASIDS
// The user half's PCID under page-table isolation (X86_CR3_PTI_PCID_USER_BIT).
inline constexpr uint16_t kUserPcidBit = 1u << 11;

constexpr bool IsGlobalAsid(uint16_t asid) { return asid >= kDynamicAsids; }

struct AsidContext {
  uint64_t ctx_id = 0;  // 0: nobody's
  uint64_t tlb_gen = 0;

  friend bool operator==(const AsidContext&, const AsidContext&) = default;
};

struct TlbState {
  MmId task_mm = kNoMm;    // current->mm; kNoMm: the idle loop
  MmId loaded_mm = kNoMm;  // kNoMm: the kernel's own (init_mm)
  bool switching = false;  // LOADED_MM_SWITCHING stands there
  bool is_lazy = false;    // TLBSTATE_LAZY, cpu_tlbstate.is_lazy
  bool user_mode = false;
  uint16_t loaded_asid = 0;
  uint16_t next_asid = 1;
  bool invalidate_other = false;      // other ASIDs hold stale kernel pages
  uint16_t user_pcid_flush_mask = 0;  // by ASID, before the return to user
  // Likewise single pages of the loaded ASID's user half, if any: in one go
  // (Amit et al., EuroSys 2020, in-context flushes).
  VirtPage user_first;
  VirtPage user_end;
  uint8_t user_stride_order = 0;
  std::array<AsidContext, kDynamicAsids> contexts{};
  // What reclaim has cleared and not yet flushed (tlbflush_unmap_batch).
  CpuSet batch;

  bool owes_user_pages() const { return user_first < user_end; }

  void AddTo(Digest& digest) const {
    digest.Add(task_mm);
    digest.Add(loaded_mm);
    digest.Add(switching);
    digest.Add(is_lazy);
    digest.Add(user_mode);
    digest.Add(loaded_asid);
    digest.Add(next_asid);
    digest.Add(invalidate_other);
    digest.Add(user_pcid_flush_mask);
    digest.Add(user_first);
    digest.Add(user_end);
    digest.Add(user_stride_order);
    for (const AsidContext& context : contexts) {
      digest.Add(context.ctx_id);
      digest.Add(context.tlb_gen);
    }
    batch.AddTo(digest);
  }
  friend bool operator==(const TlbState&, const TlbState&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_TLB_STATE_H_
