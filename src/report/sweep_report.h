// SPDX-License-Identifier: Apache-2.0
//
// A sweep for people and for programs: the points of a grid side by side.
// docs/result_json.md tells the keys of the JSON.
#ifndef LOOKASIDE_REPORT_SWEEP_REPORT_H_
#define LOOKASIDE_REPORT_SWEEP_REPORT_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lookaside/base/cycles.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/report/host_info.h"

namespace lookaside {

// What no policy of its kind can beat, of one point.
struct SweepBound {
  Cycles cycles;
  bool proven = false;  // else told by hindsight
};

// The points again, with an unsure key at one end of its range.
struct SweepEnd {
  std::string key;
  std::string value;
  std::vector<Cycles> cycles;  // of each point
};

// What was varied, and what each point gave. At least one key and one point.
struct SweepTable {
  std::vector<std::string> keys;
  // Of each point, one for each key.
  std::vector<std::vector<std::string>> values;
  std::vector<RunResult> results;  // of each point
  std::vector<size_t> lanes;       // points that behaved alike have one number
  std::vector<SweepBound> bounds;  // of each point, or none at all
  std::vector<SweepEnd> ends;
};

// The points with the fewest cycles, in the order of the grid; those that are
// no kernel's (kernel.flush.policy = bound or clairvoyant) only where there are
// no others.
std::vector<size_t> BestPoints(const SweepTable& table);

// The points side by side, and nothing else.
std::string SweepTableText(const SweepTable& table);

// The best points at both ends of what is unsure: a line for each end.
std::string SweepEndsText(const SweepTable& table);

// `machine` says in one line what was simulated.
std::string SweepText(const SweepTable& table, std::string_view machine);

std::string SweepJson(const SweepTable& table, const HostInfo& host);

std::string SweepCsv(const SweepTable& table);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_SWEEP_REPORT_H_
