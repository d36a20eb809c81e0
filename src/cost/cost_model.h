// SPDX-License-Identifier: Apache-2.0
//
// What things cost, as data: keys `cost.<name>_ns` and `cost.<name>_cycles`.
// A config file gives an amount in either unit; it becomes cycles of the
// core clock once, in integers, rounded half up.
//
// Walks have a model of their own (pagetable/walk_config.h) unless
// `cost.refill_ns` replaces it by a constant.
#ifndef LOOKASIDE_COST_COST_MODEL_H_
#define LOOKASIDE_COST_COST_MODEL_H_

#include <cstdint>
#include <optional>

#include "lookaside/base/cycles.h"

namespace lookaside {

enum class CostUnit : uint8_t { kCycles, kNanoseconds };

struct CostAmount {
  uint64_t amount = 0;
  CostUnit unit = CostUnit::kCycles;

  constexpr Cycles InCycles(uint64_t mhz) const {
    return unit == CostUnit::kCycles ? Cycles(amount)
                                     : CyclesFromNs(amount, mhz);
  }

  friend constexpr bool operator==(const CostAmount&,
                                   const CostAmount&) = default;
};

// As configured.
struct CostConfig {
  CostAmount instruction{1, CostUnit::kCycles};
  std::optional<CostAmount> refill;  // when set: the cost of every walk
  CostAmount dirty_assist;           // beside the walk that it makes
  CostAmount fault_entry;            // #PF delivery and IRET
  CostAmount minor_fault;            // the kernel's handler, entry excluded
  CostAmount invlpg;
  CostAmount invpcid;      // of one address or of one PCID
  CostAmount cr3_flush;    // MOV to CR3 that flushes
  CostAmount cr3_noflush;  // MOV to CR3 with bit 63 set
  CostAmount cr4_pge;      // clearing and setting CR4.PGE
  CostAmount ipi_send;     // one write of the interrupt command register
  CostAmount ipi_handler;  // entry to an interrupt handler and its return
  // From that write to the handler: a sibling thread, another core of the
  // socket, another socket; and what waking a halted target adds.
  CostAmount ipi_latency_core;
  CostAmount ipi_latency_socket;
  CostAmount ipi_latency_remote;
  CostAmount ipi_wake;
  // From an acknowledgement to the sender, likewise.
  CostAmount ack_core;
  CostAmount ack_socket;
  CostAmount ack_remote;
  CostAmount syscall;      // entry and return, without CR3 writes
  CostAmount vma;          // finding, splitting, merging or removing a mapping
  CostAmount pte;          // reading and changing one page-table entry
  CostAmount page_free;    // giving one page or page table back
  CostAmount page_copy;    // copying 4 KiB
  CostAmount page_clear;   // clearing 4 KiB of a larger page
  CostAmount major_fault;  // waiting for a device to read a page
  CostAmount context_switch;  // the scheduler, without CR3 writes
  CostAmount ipi_target;      // the sender's work for each target
  CostAmount invlpgb;         // one INVLPGB
  CostAmount tlbsync;         // TLBSYNC after them
  CostAmount abis_insert;     // filling a TLB entry by a second mapping
  CostAmount abis_check;      // telling from an entry who may have it
  CostAmount latr_save;       // leaving a flush to others' ticks
  CostAmount latr_sweep;      // finding one flush that was left

  friend bool operator==(const CostConfig&, const CostConfig&) = default;
};

// The same in cycles of one clock.
struct CostModel {
  Cycles instruction;
  std::optional<Cycles> refill;
  Cycles dirty_assist;
  Cycles fault_entry;
  Cycles minor_fault;
  Cycles invlpg;
  Cycles invpcid;
  Cycles cr3_flush;
  Cycles cr3_noflush;
  Cycles cr4_pge;
  Cycles ipi_send;
  Cycles ipi_handler;
  Cycles ipi_latency_core;
  Cycles ipi_latency_socket;
  Cycles ipi_latency_remote;
  Cycles ipi_wake;
  Cycles ack_core;
  Cycles ack_socket;
  Cycles ack_remote;
  Cycles syscall;
  Cycles vma;
  Cycles pte;
  Cycles page_free;
  Cycles page_copy;
  Cycles page_clear;
  Cycles major_fault;
  Cycles context_switch;
  Cycles ipi_target;
  Cycles invlpgb;
  Cycles tlbsync;
  Cycles abis_insert;
  Cycles abis_check;
  Cycles latr_save;
  Cycles latr_sweep;

  static CostModel From(const CostConfig& config, uint64_t mhz);
};

}  // namespace lookaside

#endif  // LOOKASIDE_COST_COST_MODEL_H_
