// SPDX-License-Identifier: Apache-2.0
//
// The points of a sweep that differ in nothing but how they plan flushes.
// Until two of them plan one flush differently they are one simulation; then
// it splits (sweep/lane.h).
//
// What is flushed, and when, follows from the program and the page tables, not
// from the policy. So one lane, the scout, plays each buffer first and notes
// where the candidates part; the others play it afterwards and split before
// the event in which they do. Every lane looks at each of its flushes whether
// its members agree, so a parting that was not foreseen is an error and never
// a wrong result. The scout is the simulation of the first candidate, and
// joins nobody.
//
// Not thread-safe, but for PlayLane with different lanes.
#ifndef LOOKASIDE_SWEEP_LANE_GROUP_H_
#define LOOKASIDE_SWEEP_LANE_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/config/sim_config.h"
#include "lookaside/kernel/kernel_rules.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/sweep/flush_candidates.h"
#include "lookaside/sweep/lane.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// Part of a trace, at which `first` events had been read.
struct TracePart {
  uint64_t first = 0;
  std::span<const TraceEvent> events;
  std::span<const MemoryCall> calls;
};

class LaneGroup {
 public:
  // `rules`: of the candidates, the first that of `config`.
  static absl::StatusOr<LaneGroup> Create(const SimConfig& config,
                                          uint64_t seed,
                                          std::span<const KernelRules> rules);

  // A part of the trace takes these three, in this order: the scout, then each
  // lane beside it, from as many host threads as one likes, then Settle.
  void PlayScout(const TracePart& part);
  size_t lanes() const { return lanes_.size(); }
  void PlayLane(size_t lane, const TracePart& part);
  void Settle();

  // The first candidate that could not be played, if any. After Settle, or
  // after the scout alone. Nothing more can be played then.
  struct Failure {
    size_t candidate = 0;
    absl::Status status;
  };
  std::optional<Failure> FirstFailure() const;

  // Candidates that have never parted have the same number, which is below
  // that of all candidates.
  size_t WayOf(size_t candidate) const { return way_[candidate]; }
  // Simulations that were ever run beside each other, and joins.
  size_t most_lanes() const { return most_lanes_; }
  size_t joins() const { return joins_; }

  absl::StatusOr<RunResult> Finish(size_t candidate, const TraceInfo& trace);

 private:
  using Lanes = std::vector<std::unique_ptr<Lane>>;

  void NoteWays();
  void JoinLanes();

  std::unique_ptr<Lane> scout_;
  // Of the last part. On the heap, where the scout's policy finds it.
  std::unique_ptr<std::vector<Parting>> partings_;
  Lanes lanes_;
  std::vector<Lanes> split_off_;  // of each lane, in this part
  std::vector<size_t> way_;       // by candidate
  uint64_t parts_since_change_ = 0;
  size_t most_lanes_ = 0;
  size_t joins_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_SWEEP_LANE_GROUP_H_
