// SPDX-License-Identifier: Apache-2.0
//
// Whether a hardware thread can still use what its TLB holds of a PCID. The
// safety checks ask when memory is freed: an entry that cannot be used before
// a flush drops it does no harm.
//
// Usable: the PCID is loaded and not lazily kept, or the next switch to it
// would not flush: its ASID belongs to an address space and is up to date with
// its tlb_gen, and nothing has marked it for a flush. Without PCIDs every
// switch flushes.
//
// A table is another matter: hardware walks tables that are loaded whenever it
// likes, for a CPU that keeps them lazily too (Linux b956575bed91).
#ifndef LOOKASIDE_KERNEL_ENTRY_USE_H_
#define LOOKASIDE_KERNEL_ENTRY_USE_H_

#include "lookaside/base/ids.h"
#include "lookaside/kernel/kernel_state.h"

namespace lookaside {

// `loaded`: the hardware thread has the PCID loaded.
bool CanUseEntries(const KernelState& kernel, CpuId cpu, Pcid pcid,
                   bool loaded);

// The same of a page table that it leads to.
inline bool CanWalkTables(const KernelState& kernel, CpuId cpu, Pcid pcid,
                          bool loaded) {
  return loaded || CanUseEntries(kernel, cpu, pcid, loaded);
}

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_ENTRY_USE_H_
