// SPDX-License-Identifier: Apache-2.0
//
// Plays whole traces in timed order (replay/timed_order.h) and gathers the
// result. Recordings are fed as far as the replay wants them; generators are
// asked for each of their threads.
//
// Accesses pace the clock of a recording whose first window
// (`replay.lookahead` events) has no instruction fetch; that stays so.
// `replay.warmup`, and what a generator does before its measured part, runs
// before counting starts; elapsed time then counts from the moment at which
// that ended.
#ifndef LOOKASIDE_REPLAY_TIMED_REPLAY_H_
#define LOOKASIDE_REPLAY_TIMED_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/cycles.h"
#include "lookaside/machine/access_path.h"
#include "lookaside/replay/record_streams.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/replay/timed_order.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

class TimedReplay {
 public:
  // `progress`: told the events and accesses played so far, now and then.
  TimedReplay(Simulation& simulation,
              std::function<void(uint64_t, uint64_t)> progress);

  // Traces in their order. What `reader` refers to outlives the replay; it is
  // read by whoever feeds, unless it has streams of its own.
  absl::Status Add(TraceReader& reader);
  // A recording that is fed without a reader.
  absl::Status AddRecording(const std::string& name = "");

  // The recording that must be fed, or ended, before Run can go on.
  std::optional<size_t> wants() const;
  void Feed(size_t trace, std::span<const TraceEvent> events,
            std::span<const MemoryCall> calls);
  void End(size_t trace);

  // Plays until a recording is wanted or everything has been played, or until
  // nothing can ever go on (C10): then nothing more is wanted, and the result
  // is of what was played.
  absl::Status Run();

  // REQUIRES: all recordings have ended, Run has returned. `infos`: of the
  // traces, in their order.
  absl::StatusOr<RunResult> Finish(const std::vector<TraceInfo>& infos);

 private:
  struct Trace {
    std::unique_ptr<RecordStreams> record;  // of recordings
    bool ended = false;
    bool started = false;
    bool has_fetch = false;
  };

  void Start();
  void EndWarmup();

  Simulation& simulation_;
  std::function<void(uint64_t, uint64_t)> progress_;
  TimedOrder order_;
  std::vector<Trace> traces_;
  uint64_t warmup_;
  std::optional<RunResult> warm_;  // at the end of the warm-up
  Cycles warm_time_;
  std::vector<ThreadResult> warm_threads_;
  std::optional<std::string> deadlock_;  // what it was
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_TIMED_REPLAY_H_
