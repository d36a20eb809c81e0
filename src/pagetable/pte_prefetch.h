// SPDX-License-Identifier: Apache-2.0
//
// Where in the host's memory the tables of recent walks lie, so that the
// entry a coming walk will read can be fetched while the present one is
// simulated. A working set of many tables does not fit the host's caches, and
// a walk that waits for its entry takes four times as long
// (BM_UniformRandom in bench/replay_benchmark.cc).
//
// Says nothing about the simulation: an address may be out of date, and
// prefetching it then fetches something else. So it is no state, and no
// digest has it.
//
//   prefetch.Remember(page, table);   // after a walk
//   prefetch.Prefetch(later_page);
#ifndef LOOKASIDE_PAGETABLE_PTE_PREFETCH_H_
#define LOOKASIDE_PAGETABLE_PTE_PREFETCH_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "lookaside/pagetable/pte.h"

namespace lookaside {

class PtePrefetch {
 public:
  // `table`: of the last level, that translates the 4 KiB page `page`.
  void Remember(uint64_t page, const Pte* table) {
    tables_[Slot(page)] = reinterpret_cast<uintptr_t>(table);
  }
  void Prefetch(uint64_t page) const {
    const uintptr_t entry = tables_[Slot(page)] + (page & 511) * sizeof(Pte);
    __builtin_prefetch(reinterpret_cast<const void*>(entry));
  }

 private:
  static constexpr size_t kSlots = 1024;

  static size_t Slot(uint64_t page) {
    return static_cast<size_t>(page >> 9) & (kSlots - 1);
  }

  std::array<uintptr_t, kSlots> tables_{};
};

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_PTE_PREFETCH_H_
