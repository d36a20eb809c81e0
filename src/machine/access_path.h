// SPDX-License-Identifier: Apache-2.0
//
// One access through the machine, from the first-level TLB to the page table:
//
//   1. A repeat on the page its side used last changes nothing: it is counted.
//      Neither does a plain hit in the 4K array of its side, but for recency.
//   2. First level, then second (tlb/tlb_hierarchy.h); a hit is charged by its
//      level. A store that hits a clean entry makes a dirty-assist walk.
//   3. A miss takes a page walker and walks (pagetable/page_walker.h).
//   4. A walk that faults drops the address's entries and raises the fault;
//      the access is tried again by whoever handled it.
//   5. What the walk found is filled by the inclusion rules.
//
// Counting: an access is counted once, when it completes; what an attempt
// that faulted loaded and cost is counted and charged as fault. A walk of
// `cost.refill` cycles, where that is set, costs that and nothing else.
//
// Left out: speculative accesses, prefetch of the next page, and bandwidth of
// anything but the walkers.
#ifndef LOOKASIDE_MACHINE_ACCESS_PATH_H_
#define LOOKASIDE_MACHINE_ACCESS_PATH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "lookaside/base/address.h"
#include "lookaside/cost/cost_model.h"
#include "lookaside/machine/check_counters.h"
#include "lookaside/machine/core.h"
#include "lookaside/machine/cpu.h"
#include "lookaside/machine/fault.h"
#include "lookaside/machine/stale_entries.h"
#include "lookaside/pagetable/page_table_lines.h"
#include "lookaside/pagetable/page_walker.h"
#include "lookaside/pagetable/physical_memory.h"
#include "lookaside/trace/page_run.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

// What advances a CPU's clock by cost.instruction: instructions, or every
// access where a trace has no instruction fetches.
enum class Pacing : uint8_t { kInstructions, kAccesses };

// What an access passes through. All of it outlives the path.
struct AccessResources {
  Cpu& cpu;
  Core& core;
  PageTableLineCache& l3;  // of the socket
  PhysicalMemory& memory;
  const PageWalker& walker;
  const CostModel& costs;
  StaleEntries& stale;
  CheckCounters& checks;
  NodeId node;  // of the CPU
  int levels;   // of paging
  Pacing pacing;
};

class AccessPath {
 public:
  explicit AccessPath(const AccessResources& resources);
  // Books what is still pending.
  ~AccessPath() { Settle(); }
  AccessPath(const AccessPath&) = delete;
  AccessPath& operator=(const AccessPath&) = delete;

  // Plays events until one faults or all are done; returns how many are done.
  // A faulting event resumes at the translation that faulted.
  size_t Play(std::span<const TraceEvent> events);

  // The same for a run. What is left of it on a fault stands in `run`.
  bool Play(PageRun& run);

  // One load by the kernel's half of the table, of data that it maps: in no
  // count of the program's accesses, but in those of the TLBs.
  void TouchAsSupervisor(VirtPage page);

  const std::optional<Fault>& fault() const { return fault_; }

 private:
  // Repeats not yet booked: 16 bits for each EventKind, so that one addition
  // to a register counts any of them (BM_ReplayDecoded in
  // bench/replay_benchmark.cc).
  static constexpr unsigned kPendingBits = 16;
  static constexpr size_t kMostPending = (size_t{1} << kPendingBits) - 1;
  static constexpr uint32_t kMostRunsPending =
      kMostPending / (RunFolder::kMostData + 2);

  bool HitsFirstLevel(EventKind kind, uint64_t page);
  bool PlayMiss(const TraceEvent& event);
  bool PlayPlainMiss(const TraceEvent& event);
  bool PlayEvent(const TraceEvent& event);
  bool PlayParts(const TraceEvent& event);
  bool PlayHead(const TraceEvent& event);
  bool Repeat(const TraceEvent& head, std::array<uint16_t, 4>& counts);
  bool Translate(AccessSide side, uint64_t page, bool write);
  bool TranslatePart(AccessSide side, uint64_t page, bool write);
  bool Walk(AccessSide side, VirtPage page, bool write, bool denied);
  TlbHierarchy::Found Fill(AccessSide side, VirtPage page, bool write,
                           const WalkResult& walk, bool denied);
  TlbEntry EntryOf(VirtPage page, const WalkResult& walk) const;
  void CheckSizes(const TlbEntry& filled, VirtPage page);
  bool AssistDirty(VirtPage page);
  WalkRequest RequestFor(VirtPage page, WalkAccess access) const;
  void RunWalker(VirtPage page, WalkAccess access, WalkResult& walk);
  void TakeWalker(Cycles duration);
  void CountWalk(const WalkResult& walk);
  void CountWalk(const PlainWalk& walk);
  void UseStale(VirtPage page, bool write, TlbHierarchy::Found& found);
  void Raise(const WalkResult& walk, VirtPage page, WalkAccess access);
  void Remember(AccessSide side, uint64_t page,
                const TlbHierarchy::Found& found);
  void RememberPage(AccessSide side, uint64_t page, uint8_t flags) {
    if (side == AccessSide::kInst) {
      last_.page[0] = page;
      return;
    }
    constexpr uint8_t kStorable = kTlbWritable | kTlbDirty;
    last_.page[1] = page;
    last_.page[2] = last_.page[3] =
        (flags & kStorable) == kStorable ? page : LastPages::kNone;
  }
  void CountEvent(EventKind kind);
  void Settle();

  AccessResources r_;
  LastPages& last_;
  std::span<TlbCounters> tlb_counters_;
  WalkResources walk_resources_;
  // By AccessSide, for PlayPlainMiss; none where there is no point in it.
  std::array<TlbHierarchy::PlainArrays, 2> plain_;
  uint64_t pending_ = 0;
  uint32_t runs_pending_ = 0;
  // The page that HitsFirstLevel has just not found in its array, and its
  // place there.
  uint64_t missed_page_ = LastPages::kNone;
  TlbHierarchy::PlainPlaces missed_;
  std::optional<Fault> fault_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_ACCESS_PATH_H_
