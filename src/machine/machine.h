// SPDX-License-Identifier: Apache-2.0
//
// The machine: sockets, cores and hardware threads with their TLBs,
// paging-structure caches, walkers and clocks, over one physical memory. It
// knows no policy: it plays accesses, loads contexts, drops translations, and
// returns a Fault where a page table does not allow an access.
//
// Cores, hardware threads and sockets come into being when first used, so an
// idle CPU costs a pointer, and no operation visits the idle ones.
//
// A copyable value: a copy driven on gives the same results as its original.
// Equal states have equal fingerprints. Not thread-safe.
//
//   auto machine = Machine::Create(config).value();
//   auto table = PageTable::Create(machine->memory(), 4, NodeId(0)).value();
//   machine->LoadContext(CpuId(0), {.root = table.root()},
//   ContextLoad::kFlush); auto result = machine->Access(CpuId(0), events,
//   Pacing::kInstructions); if (result.fault) ...   // map the page, then go on
//   at result.consumed
#ifndef LOOKASIDE_MACHINE_MACHINE_H_
#define LOOKASIDE_MACHINE_MACHINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/base/lazy.h"
#include "lookaside/cost/cost_model.h"
#include "lookaside/machine/access_path.h"
#include "lookaside/machine/cached_page.h"
#include "lookaside/machine/check_counters.h"
#include "lookaside/machine/core.h"
#include "lookaside/machine/cpu.h"
#include "lookaside/machine/fault.h"
#include "lookaside/machine/interconnect.h"
#include "lookaside/machine/machine_config.h"
#include "lookaside/machine/stale_entries.h"
#include "lookaside/machine/topology.h"
#include "lookaside/pagetable/page_table_lines.h"
#include "lookaside/pagetable/page_walker.h"
#include "lookaside/pagetable/physical_memory.h"
#include "lookaside/pagetable/walk_config.h"
#include "lookaside/tlb/invalidation.h"
#include "lookaside/tlb/psc_config.h"
#include "lookaside/tlb/tlb_config.h"
#include "lookaside/trace/page_run.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

struct MachineConfig {
  TopologyConfig topology;
  TlbHierarchyConfig tlb;
  PscConfig psc;
  WalkConfig walk;
  PagingConfig paging;
  CostConfig cost;
  uint64_t seed = 0;  // of random replacement
};

// An error names the key, its value and what would be right.
absl::Status Validate(const MachineConfig& config);

// Bit 63 of the value written to CR3, with CR4.PCIDE set.
enum class ContextLoad : uint8_t {
  kFlush,    // drops the PCID's entries but global ones
  kNoFlush,  // drops nothing
  // Drops nothing, and software drops single pages next: FinishLoad.
  kNoFlushYet,
};

class Machine {
 public:
  static absl::StatusOr<std::unique_ptr<Machine>> Create(
      const MachineConfig& config);
  Machine(const Machine&) = default;
  Machine& operator=(const Machine&) = delete;

  const MachineConfig& config() const { return config_; }
  const Topology& topology() const { return topology_; }
  const CostModel& costs() const { return costs_; }
  PhysicalMemory& memory() { return memory_; }
  const PhysicalMemory& memory() const { return memory_; }

  // The hardware thread, made if this is its first use.
  // REQUIRES: id.value() < topology().cpus(), as in all that follows.
  Cpu& cpu(CpuId id);
  // Those in use, in the order of their numbers.
  std::vector<CpuId> used_cpus() const;
  const Cpu& used_cpu(CpuId id) const { return *cpus_[id.value()]; }

  // What the threads of a core share, or null before its first use.
  const Core* used_core(CoreId id) const {
    const Lazy<Core>& core = cores_[id.value()];
    return core.has_value() ? &*core : nullptr;
  }

  struct AccessResult {
    size_t consumed = 0;  // events done
    std::optional<Fault> fault;
  };
  // Plays the events on `cpu` until one faults. That event is not consumed:
  // call again with it first once the fault is handled.
  // REQUIRES: a context is loaded; addresses are canonical with five levels.
  AccessResult Access(CpuId cpu, std::span<const TraceEvent> events,
                      Pacing pacing);

  // The same for folded runs, with the same results. A run that faults is not
  // consumed; what is left of it stands in its place.
  // REQUIRES: folding_is_exact().
  AccessResult AccessRuns(CpuId cpu, std::span<PageRun> runs, Pacing pacing);
  bool folding_is_exact() const;

  // The next event of `cpu` fills the leaf as if through a second mapping:
  // accessed stays clear in it, and so tells whether anyone has walked to it
  // since. Nothing happens if the leaf is another by then.
  void Insert(CpuId cpu, const Insertion& insertion);

  // The kernel on `cpu` loads from a page of its own, which the table that is
  // loaded maps.
  void TouchAsSupervisor(CpuId cpu, VirtPage page);

  // MOV to CR3. The first one makes the hardware thread active: partitioned
  // arrays of its core are divided anew.
  void LoadContext(CpuId cpu, const AddressSpace& space, ContextLoad load);
  // After kNoFlushYet: from here on its entries are used.
  void FinishLoad(CpuId cpu) { CheckActivation(cpu, ContextLoad::kNoFlush); }
  // Halts the hardware thread until its next LoadContext: its share of
  // partitioned arrays goes to its siblings.
  void Halt(CpuId cpu);

  // Sends an interrupt to each target, charging `from` for each write of its
  // interrupt command register. REQUIRES: `from` is no target.
  void SendIpi(CpuId from, const CpuSet& targets, uint32_t payload);
  const Interconnect& interconnect() const { return interconnect_; }

  // Executes the invalidation on `cpu`, and charges it.
  void Invalidate(CpuId cpu, const Invalidation& invalidation);
  // Executes it; the caller charges what it likes.
  void InvalidateUncharged(CpuId cpu, const Invalidation& invalidation);

  // Executes INVLPGB on `from`, and charges it: all threads drop what it says,
  // at once (hardware may take until the next TLBSYNC).
  void Invalidate(CpuId from, const Broadcast& broadcast);
  // TLBSYNC: `from` waits until its broadcasts are done everywhere.
  void SyncBroadcasts(CpuId from);

  // The operation that page-table writes belong to from now on, until its
  // promise. Writes outside any operation are never judged.
  OperationId BeginOperation(CpuId cpu, std::string name);
  // Zero outside of operations.
  OperationId operation() const { return stale_.writer(); }
  // The same for one that has begun and goes on, after those of other CPUs.
  void ContinueOperation(CpuId cpu, OperationId operation);
  // The operation has returned to its caller: what it took away may not be
  // used any more. `relaxed`: only after a second promise.
  void Promise(OperationId operation, bool relaxed = false);

  // Whether a hardware thread can use entries of the PCID: it is loaded there
  // (and not lazily), or its next load will not flush.
  using UsablePcid = absl::FunctionRef<bool(CpuId, Pcid, bool loaded)>;
  // Checks that nothing that can be used, on any core, leads to what `cpu` is
  // about to free.
  void CheckFrameFree(CpuId cpu, FrameNumber frame, PageSize size,
                      UsablePcid usable);
  void CheckTableFree(CpuId cpu, FrameNumber table, UsablePcid usable);

  const CheckCounters& checks() const { return checks_; }
  CheckCounters& checks() { return checks_; }
  // What the core of the hardware thread holds for it under these PCIDs, global
  // entries left out; each page once, in order.
  std::vector<CachedPage> CachedPages(CpuId cpu,
                                      std::span<const Pcid> pcids) const;

  // Page-table changes of which stale copies may exist.
  size_t stale_changes() const { return stale_.size(); }

  // Of everything that future results depend on, told from `origin`: nothing
  // will happen before it.
  Fingerprint Digest(Cycles origin = Cycles()) const;

  // CHECKs what the parts promise. Expensive.
  void CheckInvariants() const;

 private:
  Machine(const MachineConfig& config, FrameAllocator frames);

  Core& core(CpuId cpu);
  PageTableLineCache& l3(CpuId cpu);
  AccessResources Resources(CpuId cpu, Pacing pacing);
  // The leaf that an insertion is about, while nobody has walked to it.
  std::optional<PhysAddr> TakeInsertion(CpuId cpu);
  void EndInsertion(PhysAddr leaf);
  TlbContext TagsOf(CpuId cpu, const AddressSpace& space);
  void SetActive(CpuId cpu, bool active);
  void DropPage(CpuId cpu, const TlbContext& context, VirtPage page,
                bool globals);
  void DropContext(CpuId cpu, ContextTag tag);
  void DropThread(CpuId cpu, bool globals);
  void MarkStale();
  std::optional<CpuId> UserOf(CoreId core, ContextTag tag,
                              UsablePcid usable) const;
  void CheckActivation(CpuId cpu, ContextLoad load);
  Cycles LeastClock(CoreId core) const;

  MachineConfig config_;
  Topology topology_;
  CostModel costs_;
  Interconnect interconnect_;
  PageWalker walker_;
  PhysicalMemory memory_;
  std::vector<Lazy<Cpu>> cpus_;
  std::vector<Lazy<Core>> cores_;
  std::vector<Lazy<PageTableLineCache>> l3_;  // by socket
  StaleEntries stale_;
  CpuId writer_cpu_;
  CheckCounters checks_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_MACHINE_H_
