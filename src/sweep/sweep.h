// SPDX-License-Identifier: Apache-2.0
//
// Many configurations over one trace, in one pass: the trace is decoded once,
// and every simulation plays each buffer. Points that differ in nothing but
// how they plan flushes share simulations for as long as they plan alike
// (sweep/lane_group.h). The results are those of separate replays, in the
// order of the grid, whatever the number of host threads.
//
//   auto points = MakeGrid(loaded, {ParseVary("tlb.stlb.entries=512,1024")
//                                       .value()});
//   auto sweep = RunSweep(*points, reader, {.jobs = 2});
//   sweep->results[0].totals.cycles.Total()
#ifndef LOOKASIDE_SWEEP_SWEEP_H_
#define LOOKASIDE_SWEEP_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/config/loaded_config.h"
#include "lookaside/config/sim_config.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/sweep/vary.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct SweepPoint {
  std::vector<std::string> values;  // one for each varied key, in their order
  SimConfig config;
};

// Every combination, the last key varying fastest. Errors: a key or value that
// does not exist, a combination that is no machine, two lists of one key, more
// than kMostSweepPoints points.
absl::StatusOr<std::vector<SweepPoint>> MakeGrid(const LoadedConfig& base,
                                                 std::span<const Vary> varies);

struct SweepOptions {
  uint64_t seed = 0;
  unsigned jobs = 1;  // host threads
  // Told the accesses that every lane has played, once a buffer.
  std::function<void(uint64_t accesses)> progress = {};
};

struct SweepResult {
  std::vector<RunResult> results;  // as the points
  // Of each point, the number of its way of behaving: points that decided
  // every flush alike have one number.
  std::vector<size_t> lanes;
  size_t simulations = 0;  // that were run beside each other, at most
  size_t joins = 0;        // of simulations that had come to the same state
};

// An error is that of the first point, in their order, that cannot be played,
// or the reader's.
absl::StatusOr<SweepResult> RunSweep(std::span<const SweepPoint> points,
                                     TraceReader& reader,
                                     const SweepOptions& options);

// Opens the traces from their beginnings.
using TraceSource =
    std::function<absl::StatusOr<std::vector<std::unique_ptr<TraceReader>>>()>;

// The same for several traces, or for generators: what those play depends on
// the configuration, so each different one reads them for itself. `open` is
// called from several threads at once.
absl::StatusOr<SweepResult> RunSweep(std::span<const SweepPoint> points,
                                     const TraceSource& open,
                                     const SweepOptions& options);

}  // namespace lookaside

#endif  // LOOKASIDE_SWEEP_SWEEP_H_
