// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/run_result.h"

#include <algorithm>

namespace lookaside {

CpuResult& CpuResult::operator+=(const CpuResult& other) {
  counters += other.counters;
  faults += other.faults;
  flushes += other.flushes;
  cycles += other.cycles;
  elapsed = std::max(elapsed, other.elapsed);
  return *this;
}

CpuResult& CpuResult::operator-=(const CpuResult& other) {
  counters -= other.counters;
  faults -= other.faults;
  flushes -= other.flushes;
  cycles -= other.cycles;
  elapsed -= other.elapsed;
  return *this;
}

}  // namespace lookaside
