// SPDX-License-Identifier: Apache-2.0
//
// Which CPU's TLB alone may hold an entry: kernel.flush.policy = "abis", after
// ABIS (Amit, "Optimizing the TLB Shootdown Algorithm with Page Access
// Tracking", USENIX ATC 2017).
//
// A fault enters a page with accessed clear, notes its CPU in bits of the
// entry that hardware ignores (52 to 58), and has the TLB filled through a
// second mapping (Machine::Insert). As long as accessed is clear, nobody has
// walked to the entry, so only that CPU can have it; once it is set, anyone
// may. A flush of entries that all say so reaches those CPUs alone, and one
// that only this CPU can have needs no generation: others have nothing to
// catch up with. Exact: no promise is relaxed.
//
// What else clears accessed forgets the CPU (MADV_FREE). Paging-structure
// caches are not told apart, so a flush that frees tables goes to all of the
// cpumask. Flushes of gathers are narrowed: munmap, madvise, NUMA hints,
// mprotect since 5.19, exit never; single pages (copy on write, migration,
// reclaim, merging) go to all. With generations (4.14 on; ABIS was built on
// 4.5), a CPU that was spared is behind at the next flush that reaches it and
// drops everything then.
//
// Left out: detecting again that an entry is uncached after a full flush, and
// the paper's aging of accessed bits: the simulated kernel has none.
#ifndef LOOKASIDE_KERNEL_ENTRY_HOLDER_H_
#define LOOKASIDE_KERNEL_ENTRY_HOLDER_H_

#include <cstdint>
#include <optional>

#include "lookaside/base/address.h"
#include "lookaside/base/ids.h"
#include "lookaside/cost/cost_ledger.h"
#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/mm.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/pagetable/pte.h"

namespace lookaside {

inline constexpr unsigned kHolderShift = 52;
inline constexpr uint64_t kHolderMask = uint64_t{127} << kHolderShift;

// CPUs of higher numbers cannot be noted: anyone may have their entries.
constexpr Pte WithHolder(Pte pte, CpuId cpu) {
  const uint64_t number = uint64_t{cpu.value()} + 1;
  if (number > kHolderMask >> kHolderShift) return pte;
  return Pte((pte.bits() & ~kHolderMask) | number << kHolderShift)
      .WithAccessed(false);
}
constexpr Pte WithoutHolder(Pte pte) { return Pte(pte.bits() & ~kHolderMask); }

// The only CPU that may have the entry; nothing: any may.
inline std::optional<CpuId> HolderOf(KernelContext& k, Pte pte) {
  if (!k.rules().tracks_holders) return std::nullopt;
  k.Work(k.costs().abis_check);
  const uint64_t number = (pte.bits() & kHolderMask) >> kHolderShift;
  if (number == 0 || pte.accessed()) return std::nullopt;
  return CpuId(static_cast<uint32_t>(number - 1));
}

// The entry to write where this CPU faulted on `page`: `leaf`, to be filled
// here alone.
inline Pte InsertPrivate(KernelContext& k, MmId mm, VirtPage page, Pte leaf) {
  const Pte held = WithHolder(leaf, k.cpu);
  if (held.accessed()) return held;
  k.Charge(CostKind::kFault, k.costs().abis_insert);
  k.hardware.Insert(k.cpu, {k.kernel.mm(mm).table.root(), page, held});
  return held;
}

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_ENTRY_HOLDER_H_
