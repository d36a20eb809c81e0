// SPDX-License-Identifier: Apache-2.0
//
// What a kernel does to the translations of the CPU it runs on: loading an
// address space under the right PCID, and dropping pages or all of it (Linux
// arch/x86/mm/tlb.c). Parts of steps; none of it touches what others see.
//
// With PCIDs the kernel half of ASID a runs under PCID a + 1 and, under
// page-table isolation, the user half under that with bit 11 set. Both halves
// have the same root here: isolation takes pages from the user half, and no
// program ever touches those. Without INVPCID the user half is flushed when
// the CPU next returns to it; with kernel.flush.in_context, its pages are then,
// all that came together meanwhile in one go, or everything where that would
// be more than the ceiling.
#ifndef LOOKASIDE_KERNEL_LOCAL_TLB_H_
#define LOOKASIDE_KERNEL_LOCAL_TLB_H_

#include <cstdint>

#include "absl/status/status.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/flush_info.h"
#include "lookaside/kernel/kernel_context.h"

namespace lookaside {

// The PCID of an ASID's kernel half; 0 where PCIDs are not used.
Pcid KernelPcid(const KernelRules& rules, uint16_t asid);
Pcid UserPcid(const KernelRules& rules, uint16_t asid);

// Writes CR3. `mm` may be kNoMm, for the kernel's own table, which is made on
// first use: ResourceExhausted if there is no memory for it.
absl::Status LoadCr3(KernelContext& k, MmId mm, uint16_t asid, bool flush);

// An ASID for an address space (choose_new_asid), and whether its entries may
// be older than `gen`.
struct AsidChoice {
  uint16_t asid = 0;
  bool flush = true;
};
AsidChoice ChooseAsid(KernelContext& k, uint64_t ctx_id, uint64_t gen);

// Names the address space that the CPU has loaded; one that is dead and
// loaded nowhere any more gives its root back.
void SetLoadedMm(KernelContext& k, MmId mm);

// exit_mmap is done.
void MarkDead(KernelContext& k, MmId mm);

// What FlushLoaded costs for each page of a range.
Cycles PageFlushCost(const KernelRules& rules, const CostModel& costs);

// Drops the range, or all that is loaded, as `info` says. `remote` says where
// it is counted.
void FlushLoaded(KernelContext& k, const FlushInfo& info, bool full,
                 bool remote);

// All of the loaded ASID's user half is flushed when it is next loaded.
void OweUserHalf(KernelContext& k);
// After a load of CR3: what the former user half was owed stays owed.
void SetLoadedAsid(KernelContext& k, uint16_t asid);

// The way into the kernel and out of it: two writes of CR3 under isolation.
void EnterKernel(KernelContext& k);
void ReturnToUser(KernelContext& k);

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_LOCAL_TLB_H_
