// SPDX-License-Identifier: Apache-2.0
//
// What one hardware thread did. Plain sums: a later state less an earlier one
// is what happened in between, and the sum over threads is the machine's.
#ifndef LOOKASIDE_MACHINE_CPU_COUNTERS_H_
#define LOOKASIDE_MACHINE_CPU_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookaside/pagetable/page_table_lines.h"
#include "lookaside/tlb/paging_structure_caches.h"
#include "lookaside/tlb/tlb_counters.h"

namespace lookaside {

// Translations: one per page that an access touches. Each ends as a hit of
// one level or as a walk: lookups = l1_hits + stlb_hits + walks.
struct TranslationCounters {
  uint64_t l1_hits = 0;
  uint64_t stlb_hits = 0;
  uint64_t walks = 0;       // that a TLB miss made, completed without a fault
  uint64_t walk_loads = 0;  // of those walks
  std::array<uint64_t, kPagingLevels> walk_loads_by_level{};
  std::array<uint64_t, kLinePlaces> walk_loads_by_place{};
  // Walks that began at a paging-structure cache entry, by its level.
  std::array<uint64_t, kPagingLevels> psc_hits{};
  uint64_t dirty_assists = 0;
  uint64_t dirty_assist_loads = 0;
  uint64_t fault_walk_loads = 0;  // of walks that ended in a fault
  uint64_t page_faults = 0;       // raised

  friend bool operator==(const TranslationCounters&,
                         const TranslationCounters&) = default;
};

struct CpuCounters {
  explicit CpuCounters(size_t tlb_arrays = 0) : tlb(tlb_arrays) {}

  uint64_t instructions = 0;
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t ifetches = 0;
  TranslationCounters translation;
  std::vector<TlbCounters> tlb;  // as TlbHierarchyConfig::arrays

  uint64_t accesses() const { return loads + stores + ifetches; }

  CpuCounters& operator+=(const CpuCounters& other);
  // REQUIRES: `other` is an earlier state of the same counters.
  CpuCounters& operator-=(const CpuCounters& other);

  friend bool operator==(const CpuCounters&, const CpuCounters&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_CPU_COUNTERS_H_
