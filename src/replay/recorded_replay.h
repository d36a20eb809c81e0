// SPDX-License-Identifier: Apache-2.0
//
// Plays whole traces in recorded order (replay/recorded_order.h) and gathers
// the result: what replay/replayer.h says of it.
#ifndef LOOKASIDE_REPLAY_RECORDED_REPLAY_H_
#define LOOKASIDE_REPLAY_RECORDED_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/machine/access_path.h"
#include "lookaside/replay/read_ahead.h"
#include "lookaside/replay/recorded_order.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

class RecordedReplay {
 public:
  // `progress`: told the events and accesses played so far, now and then.
  // `setup_accesses`: further ones of the warm-up.
  RecordedReplay(Simulation& simulation,
                 std::function<void(uint64_t, uint64_t)> progress,
                 uint64_t setup_accesses = 0);

  // Goes on where `other` is, with a clone of its simulation, and tells no
  // progress.
  RecordedReplay(const RecordedReplay& other, Simulation& clone);
  ~RecordedReplay();
  RecordedReplay(const RecordedReplay&) = delete;
  RecordedReplay& operator=(const RecordedReplay&) = delete;

  // One more trace. The first is the simulation's own process.
  absl::Status Add();

  // The next events of that trace; `calls`: those that events of kind kCall
  // name by their index. Where the future is to be known (ReadAhead), they are
  // held back and earlier ones played. REQUIRES: no earlier call failed.
  absl::Status Play(size_t trace, std::span<const TraceEvent> events,
                    std::span<const MemoryCall> calls);
  // Plays what has been held back: all traces have ended.
  absl::Status End();
  // The trace that events were last played of.
  size_t playing() const { return playing_; }

  // Events of all traces played so far, calls included: while one is being
  // played, how many came before it.
  uint64_t position() const { return simulation_.played() + calls_passed_; }
  // Nothing that is still to be played of the first trace begins before it.
  Cycles preceding_start() const {
    return traces_.front()->order.preceding_start();
  }
  // What had been counted when the warm-up ended, if there was one.
  const std::optional<RunResult>& warm() const { return warm_; }
  bool warming_up() const { return warmup_left_ > 0; }

  // `infos`: of the traces, which have been played to their ends.
  // REQUIRES: End() was called.
  RunResult Finish(const std::vector<TraceInfo>& infos) const;
  // The same, from counters and a warm-up that are not the simulation's own.
  RunResult Finish(const std::vector<TraceInfo>& infos, RunResult counted,
                   const std::optional<RunResult>& warm) const;

 private:
  struct Trace {
    Trace(Simulation& simulation, Occupants& occupants, size_t number, MmId mm)
        : order(simulation, occupants, number, mm) {}
    Trace(const Trace& other, Simulation& clone, Occupants& occupants)
        : order(other.order, clone, occupants),
          pacing(other.pacing),
          played(other.played),
          paced_accesses(other.paced_accesses) {}

    RecordedOrder order;
    Pacing pacing = Pacing::kAccesses;         // until the first fetch
    uint64_t played = 0;                       // events
    std::map<CpuId, uint64_t> paced_accesses;  // since the warm-up
  };

  void Foresee();
  absl::Status PlayNow(size_t trace, std::span<const TraceEvent> events,
                       std::span<const MemoryCall> calls);
  absl::Status PlayHeld();
  absl::Status PlayAccesses(Trace& trace, std::span<const TraceEvent> events);
  absl::Status PlayPart(Trace& trace, std::span<const TraceEvent> events);
  absl::Status Apply(Trace& trace, const MemoryCall& call);
  absl::Status CheckClock(const Trace& trace, CpuId cpu) const;
  void TakeBackPacing(RunResult& result) const;
  void Warn(const std::vector<TraceInfo>& infos, RunResult& result) const;

  Simulation& simulation_;
  std::function<void(uint64_t, uint64_t)> progress_;
  bool applies_calls_;
  Occupants occupants_;
  std::vector<std::unique_ptr<Trace>> traces_;
  uint64_t warmup_left_;
  uint64_t calls_passed_ = 0;
  uint64_t accesses_ = 0;
  size_t playing_ = 0;
  std::optional<ReadAhead> ahead_;  // where the policy asks for the future
  std::optional<RunResult> warm_;   // at the end of the warm-up
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_RECORDED_REPLAY_H_
