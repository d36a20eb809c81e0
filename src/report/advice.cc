// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/advice.h"

#include <fmt/format.h>

#include "lookaside/report/format_number.h"

namespace lookaside {
namespace {

void AdviseOnFetches(const CpuCounters& counters,
                     std::vector<std::string>& advice) {
  if (counters.ifetches > 0 || counters.accesses() == 0) return;
  advice.push_back(
      "The trace has no instruction fetches: rates are per thousand accesses, "
      "and the instruction side saw nothing. Record with a tool that writes "
      "fetches too (valgrind --tool=lackey --trace-mem=yes does).");
}

void AdviseOnFirstTouches(const CpuResult& totals,
                          std::vector<std::string>& advice) {
  const uint64_t walks = totals.counters.translation.walks;
  if (totals.faults.minor * 2 <= walks) return;
  advice.push_back(fmt::format(
      "{} of {} of a page: the recording is short "
      "for its footprint, and a long run misses less often. Use a longer "
      "recording, or leave its beginning uncounted with "
      "--set replay.warmup=ACCESSES.",
      Grouped(totals.faults.minor),
      walks == 1 ? "1 walk was a first touch"
                 : Grouped(walks) + " walks were first touches"));
}

}  // namespace

std::vector<std::string> Advice(const RunResult& result) {
  std::vector<std::string> advice;
  AdviseOnFetches(result.totals.counters, advice);
  AdviseOnFirstTouches(result.totals, advice);
  return advice;
}

}  // namespace lookaside
