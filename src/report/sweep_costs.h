// SPDX-License-Identifier: Apache-2.0
//
// The three sums by which flush policies are compared. Kinds that belong to
// none (the program's own work, hits, faults) are left out.
#ifndef LOOKASIDE_REPORT_SWEEP_COSTS_H_
#define LOOKASIDE_REPORT_SWEEP_COSTS_H_

#include "lookaside/base/cycles.h"
#include "lookaside/cost/cost_ledger.h"

namespace lookaside {

// What it costs to have translations again: walks, and waiting for walkers.
inline Cycles RefillCost(const CostLedger& cycles) {
  return cycles[CostKind::kWalk] + cycles[CostKind::kWalkWait];
}

// What it costs to drop translations: invalidations and CR3 writes wherever
// they run, sending interrupts, and taking them.
inline Cycles FlushCost(const CostLedger& cycles) {
  return cycles[CostKind::kInvalidate] + cycles[CostKind::kContext] +
         cycles[CostKind::kFlushSend] + cycles[CostKind::kInterrupt];
}

// What is spent waiting for other CPUs.
inline Cycles WaitCost(const CostLedger& cycles) {
  return cycles[CostKind::kFlushWait] + cycles[CostKind::kLockWait];
}

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_SWEEP_COSTS_H_
