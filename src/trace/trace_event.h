// SPDX-License-Identifier: Apache-2.0
//
// One record of a trace, whatever file or generator it came from: an access
// of the recorded program. Sixteen bytes, so that millions fit a buffer.
//
// `address` and `size` are the bytes touched. An access may span pages; each
// page touched is one translation, in address order. A modify is a load and
// then a store of the same bytes.
#ifndef LOOKASIDE_TRACE_TRACE_EVENT_H_
#define LOOKASIDE_TRACE_TRACE_EVENT_H_

#include <cstdint>
#include <string_view>

#include "lookaside/base/address.h"

namespace lookaside {

enum class EventKind : uint8_t {
  kFetch = 0,  // an instruction fetch
  kLoad = 1,
  kStore = 2,
  kModify = 3,
};

constexpr std::string_view Name(EventKind kind) {
  constexpr std::string_view kNames[] = {"fetch", "load", "store", "modify"};
  return kNames[static_cast<int>(kind)];
}

struct TraceEvent {
  VirtAddr address;
  uint16_t size = 0;  // bytes, at least 1
  EventKind kind = EventKind::kFetch;
  uint8_t reserved = 0;
  uint32_t thread = 0;  // of the recording, from 0 in order of appearance

  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};
static_assert(sizeof(TraceEvent) == 16);

// Accesses that the event stands for: a modify is two.
constexpr uint64_t Accesses(EventKind kind) {
  return kind == EventKind::kModify ? 2 : 1;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_TRACE_EVENT_H_
