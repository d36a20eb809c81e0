// SPDX-License-Identifier: Apache-2.0
//
// The hardware as a kernel reaches it when nothing lies between the two: it
// loads contexts, invalidates, writes page tables, allocates frames, and is
// charged for its own work. A kernel touches the machine in no other way.
//
// Holds a reference and nothing else: make one where it is needed.
#ifndef LOOKASIDE_KERNEL_BARE_METAL_H_
#define LOOKASIDE_KERNEL_BARE_METAL_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/cost/cost_ledger.h"
#include "lookaside/machine/cached_page.h"
#include "lookaside/machine/check_counters.h"
#include "lookaside/machine/cpu.h"
#include "lookaside/machine/interrupts.h"
#include "lookaside/machine/machine.h"
#include "lookaside/machine/step_frame.h"
#include "lookaside/pagetable/pte.h"
#include "lookaside/tlb/invalidation.h"

namespace lookaside {

class BareMetal {
 public:
  explicit BareMetal(Machine& machine) : machine_(machine) {}

  PhysicalMemory& memory() { return machine_.memory(); }
  const CostModel& costs() const { return machine_.costs(); }
  int paging_levels() const {
    return static_cast<int>(machine_.config().paging.levels);
  }
  NodeId NodeOf(CpuId cpu) const { return machine_.topology().NodeOf(cpu); }

  void LoadContext(CpuId cpu, const AddressSpace& space, ContextLoad load) {
    machine_.LoadContext(cpu, space, load);
  }
  void FinishLoad(CpuId cpu) { machine_.FinishLoad(cpu); }
  void Invalidate(CpuId cpu, const Invalidation& invalidation) {
    machine_.Invalidate(cpu, invalidation);
  }
  void InvalidateUncharged(CpuId cpu, const Invalidation& invalidation) {
    machine_.InvalidateUncharged(cpu, invalidation);
  }
  void Invalidate(CpuId cpu, const Broadcast& broadcast) {
    machine_.Invalidate(cpu, broadcast);
  }
  void SyncBroadcasts(CpuId cpu) { machine_.SyncBroadcasts(cpu); }
  void Halt(CpuId cpu) { machine_.Halt(cpu); }

  // Changes of entries belong to the operation until it has returned.
  OperationId BeginOperation(CpuId cpu, std::string_view name) {
    return machine_.BeginOperation(cpu, std::string(name));
  }
  // The one under way.
  OperationId operation() const { return machine_.operation(); }
  // `relaxed`: uses of what it took away are exposed, not violations, until
  // it promises again without.
  void Promise(OperationId operation, bool relaxed = false) {
    machine_.Promise(operation, relaxed);
  }
  void ContinueOperation(CpuId cpu, OperationId operation) {
    machine_.ContinueOperation(cpu, operation);
  }
  // Before the memory is freed.
  void CheckFrameFree(CpuId cpu, FrameNumber frame, PageSize size,
                      Machine::UsablePcid usable) {
    machine_.CheckFrameFree(cpu, frame, size, usable);
  }
  // Of a rule that is the kernel's own.
  void ReportViolation(const CheckExample& violation) {
    machine_.checks().Add(violation);
  }
  void CheckTableFree(CpuId cpu, FrameNumber table,
                      Machine::UsablePcid usable) {
    machine_.CheckTableFree(cpu, table, usable);
  }

  // Every change of an entry that the kernel makes.
  void WritePte(PhysAddr entry, Pte value) {
    machine_.memory().tables.Write(entry, value);
  }

  void TouchAsSupervisor(CpuId cpu, VirtPage page) {
    machine_.TouchAsSupervisor(cpu, page);
  }
  // See Machine::Insert.
  void Insert(CpuId cpu, const Insertion& insertion) {
    machine_.Insert(cpu, insertion);
  }

  void SendIpi(CpuId from, const CpuSet& targets, uint32_t payload) {
    machine_.SendIpi(from, targets, payload);
  }
  // From the store of an acknowledgement on `from` to its load on `to`.
  Cycles Acknowledgement(CpuId to, CpuId from) const {
    return machine_.interconnect().Acknowledgement(to, from);
  }
  PendingInterrupts& interrupts(CpuId cpu) {
    return machine_.cpu(cpu).interrupts();
  }
  bool interrupts_off(CpuId cpu) { return machine_.cpu(cpu).interrupts_off(); }
  void SetInterruptsOff(CpuId cpu, bool off) {
    machine_.cpu(cpu).set_interrupts_off(off);
  }
  StepStack& steps(CpuId cpu) { return machine_.cpu(cpu).steps(); }

  // What the hardware thread's core holds under these PCIDs of it.
  std::vector<CachedPage> CachedPages(CpuId cpu, std::span<const Pcid> pcids) {
    return machine_.CachedPages(cpu, pcids);
  }
  // Of an entry: cost.refill, or what its walks have cost on average.
  Cycles RefillCost(CpuId cpu) {
    if (costs().refill) return *costs().refill;
    const Cpu& thread = machine_.cpu(cpu);
    const uint64_t walks = thread.counters().translation.walks;
    const Cycles cost = thread.ledger()[CostKind::kWalk];
    return walks == 0 ? Cycles() : Cycles(cost.value() / walks);
  }

  Cycles clock(CpuId cpu) { return machine_.cpu(cpu).clock(); }
  void IdleUntil(CpuId cpu, Cycles time) { machine_.cpu(cpu).IdleUntil(time); }
  void Charge(CpuId cpu, CostKind kind, Cycles cycles) {
    machine_.cpu(cpu).Charge(kind, cycles);
  }

 private:
  Machine& machine_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_BARE_METAL_H_
