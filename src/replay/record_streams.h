// SPDX-License-Identifier: Apache-2.0
//
// One totally ordered recording, taken apart into a stream for each of its
// threads, with order marks: every memory-management call of the record (and
// clone, fork, execve, exit) is a mark for all of its threads. A call runs
// when all that stands before it in the record has been played, and nothing
// that stands behind it is played before it has run. Between two calls the
// threads run as their CPUs let them.
//
// Recorders that let one thread run at a time (lackey) tell no other order,
// such as that of a mutex; so between calls threads may overtake one another
// where the program would not have let them. And as a call is a mark for all,
// a thread stands still while another one is in the kernel: what a flush of
// such a recording races with is interrupt handlers and other processes.
//
// A window of the record is looked at, `lookahead` events long: it is fed by
// whoever reads it. A thread without an event in the window is asleep (its
// recorder would have let it run, had it been able to) until one comes in.
//
// Not thread-safe.
#ifndef LOOKASIDE_REPLAY_RECORD_STREAMS_H_
#define LOOKASIDE_REPLAY_RECORD_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/thread_streams.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

class RecordStreams final : public ThreadStreams {
 public:
  // `applies_calls`: whether calls are steps and marks, or left out.
  RecordStreams(uint64_t lookahead, bool applies_calls)
      : lookahead_(lookahead), applies_calls_(applies_calls) {}

  // Whether the window has room, and the record more to give.
  bool wants() const { return !ended_ && queued_ < lookahead_; }
  // The next events of the record, and the calls that they stand for.
  void Feed(std::span<const TraceEvent> events,
            std::span<const MemoryCall> calls);
  // The record has no more.
  void End() { ended_ = true; }

  // The threads that Feed has met, in the order of their numbers.
  std::vector<uint32_t> threads() const;

  ThreadStep Next(uint32_t thread) override;
  bool Played(uint32_t thread, size_t events) override;
  void Returned(uint32_t thread) override;

 private:
  // Accesses that no call parts, or one call.
  struct Part {
    uint64_t epoch = 0;  // calls before it in the record
    bool is_call = false;
    MemoryCall call{};
    std::vector<TraceEvent> events;
    size_t played = 0;  // of them
  };

  void FeedAccess(const TraceEvent& event);
  void FeedCall(const MemoryCall& call);

  uint64_t lookahead_;
  bool applies_calls_;
  bool ended_ = false;
  uint64_t queued_ = 0;  // accesses and calls in the window
  std::map<uint32_t, std::deque<Part>> parts_;  // by thread
  uint64_t calls_fed_ = 0;
  uint64_t calls_done_ = 0;
  // Accesses not yet played of epochs calls_done_ and later.
  std::deque<uint64_t> unplayed_ = {0};
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_RECORD_STREAMS_H_
