// SPDX-License-Identifier: Apache-2.0
//
// Plays whole traces through a simulation and gathers the result. Several
// traces are several processes over one machine, each placed as if alone.
//
// `replay.order` chooses the order of different threads. In recorded order a
// recording is played as it stands (replay/recorded_order.h), and several
// recordings take turns: each plays as many instructions (accesses where none
// are fetched) as a time slice has cycles (`replay.slice_us`); what they cost
// does not matter, because what TLBs hold must not depend on clocks. In timed
// order clocks decide (replay/timed_order.h).
//
// `replay.warmup` accesses run before counting starts; an event that crosses
// that number (a modify is two accesses) belongs to the warm-up.
// Where a trace has no instruction fetches at all, accesses advance the clock
// instead. A trace whose fetches begin late is not known from its beginning:
// in recorded order, what its accesses had been charged until then is taken
// back at the end.
//
// Memory-management calls become operations of the simulated kernel, unless
// replay.operations = "ignore".
//
//   auto reader = OpenTrace("sort.lackey.zst").value();
//   auto simulation = Simulation::Create(config).value();
//   absl::StatusOr<RunResult> result = Replay(*simulation, *reader, {});
#ifndef LOOKASIDE_REPLAY_REPLAYER_H_
#define LOOKASIDE_REPLAY_REPLAYER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/config/replay_config.h"
#include "lookaside/replay/recorded_replay.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/replay/timed_replay.h"
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
  // REQUIRES: other.recorded() != nullptr.
  Replayer(const Replayer& other, Simulation& clone);

  // `calls`: those that events of kind kCall name by their index.
  // REQUIRES: no earlier call failed.
  absl::Status Play(std::span<const TraceEvent> events,
                    std::span<const MemoryCall> calls);

  // Plays what was held back, if the policy asks for the future: nothing more
  // comes. Once is enough.
  absl::Status End();

  // The replay in recorded order, or null in timed order.
  const RecordedReplay* recorded() const { return recorded_.get(); }

  // The result of all that was played, which is all of the trace.
  absl::StatusOr<RunResult> Finish(const TraceInfo& trace);

 private:
  std::unique_ptr<RecordedReplay> recorded_;  // one of the two
  std::unique_ptr<TimedReplay> timed_;
};

// Events read at a time.
inline constexpr size_t kBufferEvents = 65536;

// Errors: those of the reader, of an access that cannot be played (with the
// number of its event, from 1), of memory that ran out, and of a clock past
// 2^62 cycles. There
// is no result of a trace that was not played to its end.
absl::StatusOr<RunResult> Replay(Simulation& simulation, TraceReader& reader,
                                 const ReplayOptions& options);
// The same for several traces, in their order; errors begin with the name of
// the trace that they are of. REQUIRES: at least one.
absl::StatusOr<RunResult> Replay(Simulation& simulation,
                                 std::span<TraceReader* const> readers,
                                 const ReplayOptions& options);

// Whether these traces are replayed in timed order under that configuration.
bool IsTimed(const ReplayConfig& config, std::span<TraceReader* const> readers);

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_REPLAYER_H_
