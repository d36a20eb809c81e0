// SPDX-License-Identifier: Apache-2.0
//
// One record of a trace, whatever file or generator it came from: an access
// of the recorded program, or the place of a memory-management call among the
// accesses. Sixteen bytes, so that millions fit a buffer.
//
// `address` and `size` are the bytes touched. An access may span pages; each
// page touched is one translation, in address order. A modify is a load and
// then a store of the same bytes.
// Of a call, `address` is its index into TraceReader::calls() and `size` is 0:
// it is no access, and what plays or counts accesses never sees it.
// AccessesBeforeCall splits a stream there.
#ifndef LOOKASIDE_TRACE_TRACE_EVENT_H_
#define LOOKASIDE_TRACE_TRACE_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "lookaside/base/address.h"

namespace lookaside {

enum class EventKind : uint8_t {
  kFetch = 0,  // an instruction fetch
  kLoad = 1,
  kStore = 2,
  kModify = 3,
  kCall = 4,  // a MemoryCall; no access
};
// The kinds of accesses come first: arrays by kind have this many elements.
inline constexpr size_t kAccessKinds = 4;

constexpr std::string_view Name(EventKind kind) {
  constexpr std::string_view kNames[] = {"fetch", "load", "store", "modify",
                                         "call"};
  return kNames[static_cast<int>(kind)];
}

struct TraceEvent {
  VirtAddr address;
  uint16_t size = 0;  // bytes, at least 1 of an access
  EventKind kind = EventKind::kFetch;
  uint8_t reserved = 0;
  uint32_t thread = 0;  // of the recording, from 0 in order of appearance

  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};
static_assert(sizeof(TraceEvent) == 16);

// Accesses that the event stands for: a modify is two, a call is none.
constexpr uint64_t Accesses(EventKind kind) {
  if (kind == EventKind::kCall) return 0;
  return kind == EventKind::kModify ? 2 : 1;
}

// How many of `events` come before the first call; all, if there is none.
inline size_t AccessesBeforeCall(std::span<const TraceEvent> events) {
  size_t n = 0;
  while (n < events.size() && events[n].kind != EventKind::kCall) ++n;
  return n;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_TRACE_EVENT_H_
