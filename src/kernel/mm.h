// SPDX-License-Identifier: Apache-2.0
//
// An address space of the simulated kernel (Linux struct mm_struct): its
// mappings, its page table, and what flushing it needs to know.
//
// One lock stands for all entries of the page table (Linux without split
// page-table locks); it and the mmap lock are states of steps.
//
// A value: comparable, hashable.
#ifndef LOOKASIDE_KERNEL_MM_H_
#define LOOKASIDE_KERNEL_MM_H_

#include <cstdint>
#include <optional>

#include "lookaside/base/address.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/digest.h"
#include "lookaside/kernel/fifo_lock.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/kernel/vma_set.h"
#include "lookaside/pagetable/page_table.h"

namespace lookaside {

struct Mm {
  Mm(const PageTable& page_table, uint64_t context)
      : table(page_table), ctx_id(context) {}

  PageTable table;
  VmaSet vmas;
  uint64_t ctx_id;       // never used twice
  uint64_t tlb_gen = 1;  // of the last flush that was asked for
  CpuSet cpumask;        // who may have it in a TLB, as the kernel believes
  uint32_t users = 1;    // threads, mm_users
  // Hardware threads whose loaded_mm it is: they keep the root (mm_count).
  uint32_t loaded_on = 0;
  bool dead = false;               // exit_mmap is done: only the root is left
  std::optional<VirtAddr> brk;     // end of the heap, once known
  bool tlb_flush_batched = false;  // reclaim owes it a flush
  uint32_t tlb_flush_pending = 0;  // gathers under way
  // 6.15 with INVLPGB, for life; 0: it has none, and a dynamic one on each CPU.
  uint16_t global_asid = 0;
  bool asid_transition = false;  // some CPUs may still have a dynamic one
  uint32_t ipi_flushes = 0;      // since it was last examined for one
  FifoLock mmap_lock;
  FifoLock page_table_lock;

  void AddTo(Digest& digest) const {
    digest.Add(table.root());
    vmas.AddTo(digest);
    digest.Add(ctx_id);
    digest.Add(tlb_gen);
    cpumask.AddTo(digest);
    digest.Add(users);
    digest.Add(loaded_on);
    digest.Add(dead);
    digest.Add(brk.has_value());
    if (brk) digest.Add(*brk);
    digest.Add(tlb_flush_batched);
    digest.Add(tlb_flush_pending);
    digest.Add(global_asid);
    digest.Add(asid_transition);
    digest.Add(ipi_flushes);
    mmap_lock.AddTo(digest);
    page_table_lock.AddTo(digest);
  }
  friend bool operator==(const Mm&, const Mm&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_MM_H_
