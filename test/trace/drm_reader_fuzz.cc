// SPDX-License-Identifier: Apache-2.0
// Any bytes, taken for a drmemtrace trace: reading must not crash, events and
// calls must be valid, and the buffer's size must not matter.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

struct Outcome {
  std::vector<TraceEvent> events;  // calls are numbered through
  std::vector<MemoryCall> calls;
};

void Add(TraceEvent event, const TraceReader& reader, Outcome& outcome) {
  if (event.kind == EventKind::kCall) {
    LOOKASIDE_CHECK(event.address.value() < reader.calls().size());
    const MemoryCall& call = reader.calls()[event.address.value()];
    LOOKASIDE_CHECK(call.thread == event.thread);
    LOOKASIDE_CHECK(!ToString(call).empty());
    outcome.calls.push_back(call);
    event.address = VirtAddr(outcome.calls.size() - 1);
  } else {
    LOOKASIDE_CHECK(event.size >= 1);
    LOOKASIDE_CHECK(IsCanonical(event.address, 5));
  }
  outcome.events.push_back(event);
}

Outcome ReadAll(std::string_view bytes, size_t buffer_events) {
  TraceOptions options;
  options.format = TraceFormat::kDrmemtrace;
  Outcome outcome;
  auto reader = OpenTraceFromMemory("fuzz", bytes, options);
  if (!reader.ok()) return outcome;
  std::vector<TraceEvent> buffer(buffer_events);
  // A small file may decompress to gigabytes.
  constexpr size_t kMostEvents = 200000;
  while (outcome.events.size() < kMostEvents) {
    const size_t count = (*reader)->Read(buffer);
    if (count == 0) break;
    for (size_t i = 0; i < count && outcome.events.size() < kMostEvents; ++i) {
      Add(buffer[i], **reader, outcome);
    }
  }
  const bool ok = (*reader)->status().ok();
  LOOKASIDE_CHECK(ok || !(*reader)->status().message().empty());
  const TraceInfo info = (*reader)->info();
  LOOKASIDE_CHECK(info.events + AllCalls(info) >= outcome.events.size());
  return outcome;
}

void ReadTwice(std::string_view bytes) {
  const Outcome large = ReadAll(bytes, 4096);
  const Outcome small = ReadAll(bytes, 3);
  LOOKASIDE_CHECK(large.events == small.events);
  LOOKASIDE_CHECK(large.calls == small.calls);
}

}  // namespace
}  // namespace lookaside

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lookaside::ReadTwice({reinterpret_cast<const char*>(data), size});
  return 0;
}
