// SPDX-License-Identifier: Apache-2.0
// Any bytes: opening and reading must not crash, events must be valid, and
// the buffer's size must not matter.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

struct Outcome {
  std::vector<TraceEvent> events;
  bool ok = false;
};

Outcome ReadAll(std::string_view bytes, size_t buffer_events) {
  Outcome outcome;
  auto reader = OpenTraceFromMemory("fuzz", bytes);
  if (!reader.ok()) return outcome;
  std::vector<TraceEvent> buffer(buffer_events);
  // A small file may decompress to gigabytes.
  constexpr size_t kMostEvents = 200000;
  while (outcome.events.size() < kMostEvents) {
    const size_t count = (*reader)->Read(buffer);
    if (count == 0) break;
    outcome.events.insert(outcome.events.end(), buffer.begin(),
                          buffer.begin() + static_cast<ptrdiff_t>(count));
  }
  outcome.events.resize(std::min(outcome.events.size(), kMostEvents));
  outcome.ok = (*reader)->status().ok();
  LOOKASIDE_CHECK(outcome.ok || !(*reader)->status().message().empty());
  LOOKASIDE_CHECK((*reader)->info().events >= outcome.events.size());
  return outcome;
}

void ReadTwice(std::string_view bytes) {
  const Outcome large = ReadAll(bytes, 4096);
  const Outcome small = ReadAll(bytes, 3);
  LOOKASIDE_CHECK(large.events == small.events);
  for (const TraceEvent& event : large.events) {
    LOOKASIDE_CHECK(event.size >= 1);
    LOOKASIDE_CHECK(IsCanonical(event.address, 5));
  }
}

}  // namespace
}  // namespace lookaside

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lookaside::ReadTwice({reinterpret_cast<const char*>(data), size});
  return 0;
}
