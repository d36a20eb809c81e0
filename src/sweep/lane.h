// SPDX-License-Identifier: Apache-2.0
//
// One simulation of a sweep, and the candidates (sweep/flush_candidates.h)
// whose results it gives. A lane splits where its members part, and two lanes
// join when from there on they would do the same: the same state, but for a
// shift of all clocks, in recorded order, where nothing depends on clocks.
//
// A member that has joined keeps what it had counted until then, apart from
// what the lane's simulation had: its results are the lane's, less the one and
// plus the other. Its clocks are the lane's shifted, and idle time is what of
// them was not spent.
//
// Not thread-safe.
#ifndef LOOKASIDE_SWEEP_LANE_H_
#define LOOKASIDE_SWEEP_LANE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/digest.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/sweep/flush_candidates.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

class Lane {
 public:
  using Candidates = std::shared_ptr<const FlushCandidates>;

  // A lane at the beginning of a trace. REQUIRES: members.size() > 0.
  static absl::StatusOr<std::unique_ptr<Lane>> Create(
      const SimConfig& config, uint64_t seed, Candidates candidates,
      std::vector<size_t> members);
  // Lanes are where their policies point to.
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  std::vector<size_t> members() const;
  bool Has(size_t candidate) const;
  const Simulation& simulation() const { return *simulation_; }
  uint64_t position() const { return replayer_->recorded()->position(); }

  // Follows the first member, which is the only one, and notes where other
  // candidates would not. `partings` outlives the lane.
  void Scout(std::vector<Parting>& partings);

  // REQUIRES: status().ok().
  void Play(std::span<const TraceEvent> events,
            std::span<const MemoryCall> calls);
  // An error of the replay; Internal if members parted.
  const absl::Status& status() const { return status_; }

  // Takes `members` out of this lane, into one of their own.
  // REQUIRES: they are members, and not all.
  std::unique_ptr<Lane> Split(std::span<const size_t> members);

  // What the lane will do from here on, its clocks told from its last event;
  // nothing if it cannot be joined.
  std::optional<Fingerprint> Future() const;
  // Takes over the members of a lane that has the same future.
  void Join(Lane&& other);

  // After the whole trace.
  absl::StatusOr<RunResult> Finish(size_t member, const TraceInfo& trace);

 private:
  struct Member {
    size_t candidate = 0;
    // Since the member joined: what it had counted by then, and what the
    // lane's simulation had.
    std::optional<RunResult> own{};
    RunResult lanes;
    int64_t shift = 0;  // of its clocks, against the lane's
    std::optional<RunResult> warm{};
  };

  explicit Lane(Candidates candidates) : candidates_(std::move(candidates)) {}

  void FollowMembers();
  RunResult Counted(const Member& member) const;
  const std::optional<RunResult>& WarmOf(const Member& member) const;

  Candidates candidates_;
  std::vector<Member> members_;
  bool agreed_ = true;
  absl::Status status_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<Replayer> replayer_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_SWEEP_LANE_H_
