// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/sweep_table.h"

#include <utility>

namespace lookaside {
namespace {

SweepEnd EndOf(const UnsureEnd& end) {
  SweepEnd result{.key = end.key, .value = end.value, .cycles = {}};
  for (const RunResult& run : end.results) {
    result.cycles.push_back(run.totals.cycles.Total());
  }
  return result;
}

}  // namespace

SweepTable TableOf(Study study, std::span<const Vary> varies) {
  SweepTable table;
  for (const Vary& vary : varies) table.keys.push_back(vary.key);
  for (SweepPoint& point : study.points) {
    table.values.push_back(std::move(point.values));
  }
  for (const PolicyBound& bound : study.bounds) {
    table.bounds.push_back({bound.cycles, bound.proven});
  }
  for (const UnsureEnd& end : study.ends) table.ends.push_back(EndOf(end));
  table.lanes = std::move(study.sweep.lanes);
  table.results = std::move(study.sweep.results);
  return table;
}

}  // namespace lookaside
