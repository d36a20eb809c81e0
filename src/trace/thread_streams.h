// SPDX-License-Identifier: Apache-2.0
//
// A program as one stream per thread, for a replay that finds out itself in
// which order the threads run (timed order). Each stream gives what its thread
// does next: accesses, or a call. Where something else must happen first (a
// call of another thread has to have run: an order mark), it says so.
//
//   ThreadStep step = streams.Next(thread);
//   switch (step.kind) {
//     case ThreadStep::Kind::kAccesses:   // play some of step.events, then
//       streams.Played(thread, n);
//     case ThreadStep::Kind::kCall:       // run step.call, then
//       streams.Returned(thread);
//     ...
//   }
#ifndef LOOKASIDE_TRACE_THREAD_STREAMS_H_
#define LOOKASIDE_TRACE_THREAD_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

struct ThreadStep {
  enum class Kind : uint8_t {
    kAccesses,  // `events`, at least one
    kCall,      // `call`
    kWaits,     // for what other threads do
    kEnd,       // the thread does nothing more
  };
  Kind kind = Kind::kEnd;
  std::span<const TraceEvent> events{};
  const MemoryCall* call = nullptr;
};

// Not thread-safe.
class ThreadStreams {
 public:
  virtual ~ThreadStreams() = default;

  // What the thread does next; the same until Played or Returned. Valid until
  // the next call of anything but Next.
  virtual ThreadStep Next(uint32_t thread) = 0;

  // The first `events` of its accesses are done. Whether other threads that
  // wait may go on now. REQUIRES: no more than Next gave.
  virtual bool Played(uint32_t thread, size_t events) = 0;

  // Its call has run. Others that wait may go on now.
  // REQUIRES: Next gave a call.
  virtual void Returned(uint32_t thread) = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_THREAD_STREAMS_H_
