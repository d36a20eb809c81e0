// SPDX-License-Identifier: Apache-2.0
//
// What a replay found, as plain counters: everything that reports, JSON and
// comparisons are made from. It holds the hardware threads that were used;
// the others did nothing.
#ifndef LOOKASIDE_REPLAY_RUN_RESULT_H_
#define LOOKASIDE_REPLAY_RUN_RESULT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/config/sim_config.h"
#include "lookaside/cost/cost_ledger.h"
#include "lookaside/kernel/fault_counters.h"
#include "lookaside/kernel/flush_counters.h"
#include "lookaside/machine/check_counters.h"
#include "lookaside/machine/cpu_counters.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// One hardware thread, or the sum of several.
struct CpuResult {
  CpuCounters counters;
  FaultCounters faults;
  FlushCounters flushes;
  CostLedger cycles;
  Cycles elapsed;  // of its clock, idle time included

  CpuResult& operator+=(const CpuResult& other);
  // REQUIRES: `other` is an earlier state of the same thread.
  CpuResult& operator-=(const CpuResult& other);

  friend bool operator==(const CpuResult&, const CpuResult&) = default;
};

struct UsedCpu {
  CpuId cpu;
  CpuResult result;

  friend bool operator==(const UsedCpu&, const UsedCpu&) = default;
};

// A thread of a trace, in timed order.
struct ThreadResult {
  size_t trace = 0;     // its index
  uint32_t thread = 0;  // of the trace
  CpuId cpu;            // that it ran on
  uint64_t accesses = 0;

  friend bool operator==(const ThreadResult&, const ThreadResult&) = default;
};

struct TableCounters {
  uint64_t allocated = 0;  // page-table pages, in the whole run
  uint64_t freed = 0;

  friend bool operator==(const TableCounters&, const TableCounters&) = default;
};

struct RunResult {
  SimConfig config;
  uint64_t seed = 0;
  std::vector<TraceInfo> traces;
  std::vector<std::string> warnings;  // each one sentence
  CpuResult totals;                   // sums; `elapsed` is the largest
  std::vector<UsedCpu> cpus;
  std::vector<ThreadResult> threads;  // none in recorded order
  TableCounters tables;
  CheckCounters checks;  // of the whole run, warm-up included
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_RUN_RESULT_H_
