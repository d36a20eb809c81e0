// SPDX-License-Identifier: Apache-2.0
//
// What a kernel does, decided once: its version, what the configuration puts
// in the place of the version's defaults, and what the processor can do. The
// programs ask these rules, never the version. Sources: Linux of the versions
// named, arch/x86/mm/tlb.c and mm/mmu_gather.c (mm/memory.c before 4.20).
//
// A plain value.
#ifndef LOOKASIDE_KERNEL_KERNEL_RULES_H_
#define LOOKASIDE_KERNEL_KERNEL_RULES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "lookaside/base/cycles.h"
#include "lookaside/kernel/kernel_config.h"
#include "lookaside/machine/machine_config.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

// Entries of the last level for 4K pages, as CPUID would tell.
struct LastLevelEntries {
  uint32_t data = 0;  // tlb_lld_4k
  uint32_t inst = 0;  // tlb_lli_4k

  friend bool operator==(const LastLevelEntries&,
                         const LastLevelEntries&) = default;
};

struct KernelRules {
  KernelVersion version = KernelVersion::kLinux6_15;
  FlushPolicyKind policy = FlushPolicyKind::kCeiling;  // never kAuto
  uint32_t ceiling = 33;
  int shift = 6;  // -1: never single pages
  LastLevelEntries entries;
  LazyMode lazy = LazyMode::kSkip;  // never kAuto
  bool pcid = true;
  bool invpcid = true;
  bool kpti = false;
  bool flush_in_context = false;  // only where there are user PCIDs
  uint32_t footprint = 0;         // kernel_pages.h
  bool footprint_2m = true;
  // 6.15 with INVLPGB: global ASIDs, flushed by broadcast. Else interrupts.
  bool broadcast = false;
  uint16_t global_asids = 0;
  // 4.14: tlb_gen, the catch-up rule and, with PCIDs, six ASIDs for each CPU.
  bool generations = true;
  // 5.13: the local part runs while the remote ones do.
  bool concurrent = true;
  // 6.13: a CPU stays in the cpumask of what it left, until a flush finds it.
  bool trims_cpumask = true;
  // 3.4: interrupt vectors that carry one flush each; 0: any number.
  uint32_t flush_vectors = 0;
  // 4.14: a gather flushes what it cleared, not the range that was asked for.
  bool gather_tracks_range = true;
  // 5.19: mprotect flushes only entries whose old copies allow too much.
  bool mprotect_skips_widening = true;
  // ABIS: entries tell which CPU's TLB alone may hold them (entry_holder.h).
  bool tracks_holders = false;
  // Of scheduler ticks, which fall due on all CPUs at multiples of it.
  Cycles tick{1};
  // 3.8: a change of protection that changed no entry flushes nothing.
  bool flushes_only_changes = true;
  KernelFixSet unfixed;

  bool Fixed(KernelFix fix) const { return !unfixed.Has(fix); }

  static KernelRules From(const KernelConfig& config,
                          const TopologyConfig& machine,
                          const TlbHierarchyConfig& tlb);

  friend bool operator==(const KernelRules&, const KernelRules&) = default;
};

// `tlb_flushall_shift` of Linux 3.6 for a processor, -1 where it never flushes
// single pages. `model`: CPUID family << 8 | model.
int FlushAllShift(uint32_t model);

LastLevelEntries LastLevelOf(const TlbHierarchyConfig& tlb);

// What asks for what the version or the processor has not. An error names the
// key.
absl::Status Validate(const KernelConfig& config,
                      const TopologyConfig& machine);

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_KERNEL_RULES_H_
