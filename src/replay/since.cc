// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/since.h"

#include <algorithm>

namespace lookaside {

RunResult Since(RunResult result, const RunResult& start,
                std::optional<Cycles> time) {
  CpuResult totals;
  totals.counters = CpuCounters(result.totals.counters.tlb.size());
  for (UsedCpu& used : result.cpus) {
    const Cycles clock = used.result.elapsed;
    for (const UsedCpu& before : start.cpus) {
      if (before.cpu == used.cpu) used.result -= before.result;
    }
    if (time) used.result.elapsed = clock - std::min(clock, *time);
    totals += used.result;
  }
  result.totals = totals;
  return result;
}

}  // namespace lookaside
