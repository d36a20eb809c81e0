// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/run_length.h"

#include <array>
#include <cstdint>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/trace/page_run.h"

namespace lookaside {
namespace {

constexpr uint64_t kNoPage = ~uint64_t{0};

bool Writes(EventKind kind) {
  return kind == EventKind::kStore || kind == EventKind::kModify;
}

bool SpansPages(const TraceEvent& event) {
  return (event.address.value() & (kPageBytes - 1)) + event.size > kPageBytes;
}

// What the run has so far of one side.
struct Side {
  uint64_t page = kNoPage;  // of its head
  bool written = false;     // by its head
  uint32_t room = 0;        // for further events
};

}  // namespace

size_t RunLength(std::span<const TraceEvent> events) {
  LOOKASIDE_DCHECK(!events.empty());
  std::array<Side, 2> sides;
  sides[0].room = RunFolder::kMostFetches;
  sides[1].room = RunFolder::kMostData;
  size_t n = 0;
  for (const TraceEvent& event : events) {
    if (SpansPages(event)) return n == 0 ? 1 : n;
    const uint64_t page = event.address.value() >> kPageShift;
    Side& side = sides[event.kind == EventKind::kFetch ? 0 : 1];
    if (side.page == kNoPage) {
      side.page = page;
      side.written = Writes(event.kind);
    } else if (page != side.page || side.room == 0 ||
               (Writes(event.kind) && !side.written)) {
      return n;
    }
    --side.room;
    ++n;
  }
  return n;
}

}  // namespace lookaside
