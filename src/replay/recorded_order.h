// SPDX-License-Identifier: Apache-2.0
//
// The threads of one recording on the hardware threads of the machine, in
// recorded order: the record says what happened before what, so events run in
// its order, one at a time.
//
// Each hardware thread has its own clock; when the record goes on to another
// one, that is first raised to the start of the event before, as idle time,
// so that nothing begins before what the record says came earlier. A flush
// interrupts its targets where they stand (kernel/kernel.h). What the TLBs
// hold therefore never depends on clocks, and no race can show.
//
// A thread stays where `replay.placement` puts it. Several threads on one
// hardware thread take turns as the record does; each turn is a context
// switch of the kernel. So is each turn of another recording on it.
//
// Not thread-safe. Refers to the simulation, which outlives it.
#ifndef LOOKASIDE_REPLAY_RECORDED_ORDER_H_
#define LOOKASIDE_REPLAY_RECORDED_ORDER_H_

#include <cstdint>
#include <map>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/kernel/operation.h"
#include "lookaside/machine/access_path.h"
#include "lookaside/replay/call_counts.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

// The thread that ran last on a hardware thread.
struct Occupant {
  size_t recording = 0;
  uint32_t thread = 0;

  friend bool operator==(const Occupant&, const Occupant&) = default;
};
using Occupants = std::map<CpuId, Occupant>;

class RecordedOrder {
 public:
  // `mm`: the process that is recorded; `recording`: its number among several.
  // All recordings of a simulation share `occupants`, which outlive them.
  RecordedOrder(Simulation& simulation, Occupants& occupants, size_t recording,
                MmId mm)
      : simulation_(simulation),
        occupants_(occupants),
        recording_(recording),
        mm_(mm) {}
  // Goes on where `other` is, with a clone of its simulation.
  RecordedOrder(const RecordedOrder& other, Simulation& clone,
                Occupants& occupants)
      : simulation_(clone),
        occupants_(occupants),
        recording_(other.recording_),
        mm_(other.mm_),
        tasks_(other.tasks_),
        preceding_start_(other.preceding_start_),
        calls_(other.calls_) {}

  // Plays accesses of one thread. An error stops at the access that caused
  // it; simulation.played() tells which.
  absl::Status Play(uint32_t thread, std::span<const TraceEvent> events,
                    Pacing pacing);

  // Applies a call where it stands in the record.
  absl::Status Apply(const MemoryCall& call);

  // Where the thread runs.
  CpuId CpuOf(uint32_t thread) const;
  const CallCounts& calls() const { return calls_; }
  // Nothing that is still to be played begins before it.
  Cycles preceding_start() const { return preceding_start_; }

 private:
  struct Task {
    MmId mm;
    bool gone = false;
  };

  Task& TaskOf(uint32_t thread);
  // Makes the thread the one that runs on its hardware thread, now.
  absl::Status Resume(uint32_t thread, Task& task);
  absl::StatusOr<int64_t> Run(uint32_t thread, const Operation& operation);
  absl::Status EndOthers(uint32_t thread);
  absl::Status End(uint32_t thread);

  Simulation& simulation_;
  Occupants& occupants_;
  size_t recording_;
  MmId mm_;  // of threads that nobody created; kNoMm: it has ended
  std::map<uint32_t, Task> tasks_;  // by thread of the recording
  Cycles preceding_start_;          // of the event before
  CallCounts calls_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_RECORDED_ORDER_H_
