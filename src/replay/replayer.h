// SPDX-License-Identifier: Apache-2.0
//
// Plays a whole trace through a simulation, in recorded order, and gathers
// the result.
//
// `replay.warmup` accesses run before counting starts; an event that crosses
// that number (a modify is two accesses) belongs to the warm-up.
// Where a trace has no instruction fetches at all, accesses advance the clock
// instead. A trace whose fetches begin late is not known from its beginning:
// what its accesses had been charged until then is taken back at the end.
//
// Threads are placed by replay/placement.h and take turns as in the record
// (replay/recorded_order.h); memory-management calls become operations of the
// simulated kernel, unless replay.operations = "ignore".
//
//   auto reader = OpenTrace("sort.lackey.zst").value();
//   auto simulation = Simulation::Create(config).value();
//   absl::StatusOr<RunResult> result = Replay(*simulation, *reader, {});
#ifndef LOOKASIDE_REPLAY_REPLAYER_H_
#define LOOKASIDE_REPLAY_REPLAYER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/machine/access_path.h"
#include "lookaside/replay/recorded_order.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct ReplayOptions {
  // Told the events and accesses played so far, once a buffer or more often.
  std::function<void(uint64_t events, uint64_t accesses)> progress;
};

// A replay in progress: what Replay does, event by event, for those who read
// a trace once for several simulations. The simulation outlives it.
class Replayer {
 public:
  Replayer(Simulation& simulation, ReplayOptions options);
  // Goes on where `other` is, with a clone of its simulation.
  Replayer(const Replayer& other, Simulation& clone);

  // `calls`: those that events of kind kCall name by their index.
  // REQUIRES: no earlier call failed.
  absl::Status Play(std::span<const TraceEvent> events,
                    std::span<const MemoryCall> calls);

  // Events played so far, calls included: while one is being played, how many
  // came before it.
  uint64_t position() const { return simulation_.played() + calls_passed_; }
  // Nothing that is still to be played begins before it.
  Cycles preceding_start() const { return order_.preceding_start(); }
  // What had been counted when the warm-up ended, if there was one.
  const std::optional<RunResult>& warm() const { return warm_; }
  bool warming_up() const { return warmup_left_ > 0; }

  // The result of all that was played. `reader` is at its end.
  absl::StatusOr<RunResult> Finish(const TraceReader& reader) const;
  // The same, from counters and a warm-up that are not the simulation's own.
  RunResult Finish(const TraceInfo& trace, RunResult counted,
                   const std::optional<RunResult>& warm) const;

 private:
  absl::Status PlayAccesses(std::span<const TraceEvent> events);
  absl::Status PlayPart(std::span<const TraceEvent> events);
  absl::Status Apply(const MemoryCall& call);
  absl::Status CheckClock(CpuId cpu) const;
  void TakeBackPacing(RunResult& result) const;
  void Warn(const TraceInfo& trace, RunResult& result) const;

  Simulation& simulation_;
  ReplayOptions options_;
  RecordedOrder order_;
  bool applies_calls_;
  uint64_t warmup_left_;
  uint64_t calls_passed_ = 0;
  uint64_t accesses_ = 0;
  Pacing pacing_ = Pacing::kAccesses;         // until the first fetch
  std::map<CpuId, uint64_t> paced_accesses_;  // since the warm-up
  std::optional<RunResult> warm_;             // at the end of the warm-up
};

// Events read at a time.
inline constexpr size_t kBufferEvents = 65536;

// Errors: those of the reader, of an access that cannot be played (with the
// number of its event, from 1), of memory that ran out, and of a clock past
// 2^62 cycles. There
// is no result of a trace that was not played to its end.
absl::StatusOr<RunResult> Replay(Simulation& simulation, TraceReader& reader,
                                 const ReplayOptions& options);

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_REPLAYER_H_
