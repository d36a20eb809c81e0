// SPDX-License-Identifier: Apache-2.0
//
// The naive twin of Machine: one access at a time, one page at a time, with
// no memory of what was used last, over the naive TLBs and paging-structure
// caches. Walks read entry after entry from the root or from a cached table.
// It shares with the original what it is not the twin of: physical memory and
// the rules for counting, charging and tagging.
#ifndef LOOKASIDE_TESTING_REFERENCE_MACHINE_H_
#define LOOKASIDE_TESTING_REFERENCE_MACHINE_H_

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/cost/cost_ledger.h"
#include "lookaside/cost/cost_model.h"
#include "lookaside/machine/cpu.h"
#include "lookaside/machine/cpu_counters.h"
#include "lookaside/machine/fault.h"
#include "lookaside/machine/machine.h"
#include "lookaside/machine/topology.h"
#include "lookaside/pagetable/page_walker.h"
#include "lookaside/pagetable/physical_memory.h"
#include "lookaside/testing/reference_paging_structure_caches.h"
#include "lookaside/testing/reference_tlb_hierarchy.h"
#include "lookaside/tlb/context_table.h"
#include "lookaside/tlb/invalidation.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

// Page-table lines of one cache, most recent first within each set.
class ReferenceLines {
 public:
  ReferenceLines(const LineCacheConfig& config, Permille data_pressure);
  // Whether the line was there; it is the most recent now.
  bool Load(PhysAddr address);

 private:
  uint64_t sets_;
  uint64_t ways_;
  std::map<uint64_t, std::list<uint64_t>> lines_;  // by set
};

class ReferenceMachine {
 public:
  explicit ReferenceMachine(const MachineConfig& config);

  PhysicalMemory& memory() { return memory_; }

  // One event; a fault stops it, and the next call resumes it.
  std::optional<Fault> Access(CpuId cpu, const TraceEvent& event,
                              Pacing pacing);
  void LoadContext(CpuId cpu, const AddressSpace& space, ContextLoad load);
  void Halt(CpuId cpu);
  void IdleUntil(CpuId cpu, Cycles time);
  void Invalidate(CpuId cpu, const Invalidation& invalidation);

  const CpuCounters& counters(CpuId cpu) { return At(cpu).counters; }
  const CostLedger& ledger(CpuId cpu) { return At(cpu).ledger; }
  Cycles clock(CpuId cpu) { return At(cpu).clock; }

 private:
  struct Core {
    ContextTable contexts;
    ReferenceTlbHierarchy tlb;
    ReferencePagingStructureCaches psc;
    ReferenceLines l1;
    ReferenceLines l2;
    std::vector<Cycles> walker_free;
    uint32_t active = 0;
    std::vector<ContextTag> tags;  // all that were ever made
  };
  struct CpuState {
    CpuCounters counters;
    CostLedger ledger;
    Cycles clock;
    AddressSpace space;
    TlbContext context;
    uint64_t done = 0;  // translations of the event in progress
  };
  // A walk with its loads not yet counted.
  struct Walked {
    WalkFault fault = WalkFault::kNone;
    TlbEntry entry;
    std::vector<PagingLevel> levels;  // of its loads
    std::vector<LinePlace> places;
    PagingLevel psc_hit = PagingLevel::kPte;
    Cycles cycles;
  };

  Core& CoreOf(CpuId cpu);
  CpuState& At(CpuId cpu);
  void Charge(CpuId cpu, CostKind kind, Cycles cycles);
  TlbContext TagsOf(CpuId cpu, const AddressSpace& space);
  void SetActive(CpuId cpu, bool active);

  std::optional<Fault> Translate(CpuId cpu, AccessSide side, VirtPage page,
                                 WalkAccess access);
  std::optional<Fault> WalkAndFill(CpuId cpu, AccessSide side, VirtPage page,
                                   WalkAccess access, bool denied);
  Walked Walk(CpuId cpu, VirtPage page, WalkAccess access);
  Walked WalkTables(CpuId cpu, VirtPage page, WalkAccess access);
  LinePlace Load(CpuId cpu, PhysAddr address);
  Cycles Latency(LinePlace place) const;
  Fault Raise(CpuId cpu, const Walked& walk, VirtPage page, WalkAccess access);
  void Count(CpuId cpu, const Walked& walk);
  void DropTags(CpuId cpu, const std::vector<ContextTag>& tags);

  MachineConfig config_;
  Topology topology_;
  CostModel costs_;
  PhysicalMemory memory_;
  std::map<CoreId, Core> cores_;
  std::map<SocketId, ReferenceLines> l3_;
  std::map<CpuId, CpuState> cpus_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TESTING_REFERENCE_MACHINE_H_
