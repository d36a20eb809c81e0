// SPDX-License-Identifier: Apache-2.0
//
// Cycles of one hardware thread, by what they were spent on. Any total is the
// sum over the kinds; `kIdle` is time, not cost, and is left out of it.
#ifndef LOOKASIDE_COST_COST_LEDGER_H_
#define LOOKASIDE_COST_COST_LEDGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lookaside/base/cycles.h"

namespace lookaside {

enum class CostKind : uint8_t {
  kBase,         // cost.instruction_cycles, per instruction or access
  kL1Tlb,        // tlb.<name>.latency of first-level hits
  kStlb,         // tlb.<name>.latency of second-level hits
  kWalk,         // walks that a TLB miss made
  kWalkWait,     // waiting for a walker that a sibling thread uses
  kDirtyAssist,  // setting the dirty bit for a store that hit a clean entry
  kFault,        // page faults, with the walks that ended in them
  kInvalidate,   // INVLPG, INVPCID
  kContext,      // MOV to CR3
  kSyscall,      // operations of the kernel: entry, mappings, entries, frames
  kFlushSend,    // sending interrupts that ask others to flush
  kFlushWait,    // waiting for their acknowledgements
  kInterrupt,    // entry to interrupt handlers and the return from them
  kLockWait,     // waiting for a lock of the kernel
  kIdle,
};
inline constexpr size_t kCostKinds = 15;

constexpr std::string_view Name(CostKind kind) {
  constexpr std::string_view kNames[kCostKinds] = {
      "base",         "l1_tlb",     "stlb",       "walk",      "walk_wait",
      "dirty_assist", "fault",      "invalidate", "context",   "syscall",
      "flush_send",   "flush_wait", "interrupt",  "lock_wait", "idle"};
  return kNames[static_cast<size_t>(kind)];
}

class CostLedger {
 public:
  void Add(CostKind kind, Cycles cycles) {
    by_kind_[static_cast<size_t>(kind)] += cycles;
  }
  Cycles operator[](CostKind kind) const {
    return by_kind_[static_cast<size_t>(kind)];
  }
  // All kinds but kIdle.
  Cycles Total() const {
    Cycles total;
    for (Cycles cycles : by_kind_) total += cycles;
    return total - (*this)[CostKind::kIdle];
  }

  CostLedger& operator+=(const CostLedger& other) {
    for (size_t i = 0; i < kCostKinds; ++i) by_kind_[i] += other.by_kind_[i];
    return *this;
  }
  // REQUIRES: every kind of `other` is at most ours (an earlier state).
  CostLedger& operator-=(const CostLedger& other) {
    for (size_t i = 0; i < kCostKinds; ++i) by_kind_[i] -= other.by_kind_[i];
    return *this;
  }
  friend bool operator==(const CostLedger&, const CostLedger&) = default;

 private:
  std::array<Cycles, kCostKinds> by_kind_{};
};

}  // namespace lookaside

#endif  // LOOKASIDE_COST_COST_LEDGER_H_
