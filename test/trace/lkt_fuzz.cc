// SPDX-License-Identifier: Apache-2.0
// Any bytes as the columns of a native block, which a sum does not protect
// here: decoding must not crash, and the buffer's size must not matter.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/trace/lkt_events.h"
#include "lookaside/trace/lkt_footer.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {
namespace {

struct Outcome {
  std::vector<TraceEvent> events;
  std::vector<MemoryCall> calls;
  bool ok = false;
};

Outcome Decode(std::string_view columns, uint32_t count, size_t buffer_events) {
  Outcome outcome;
  LktEventDecoder decoder;
  if (!decoder.Begin(std::string(columns), count)) return outcome;
  std::vector<TraceEvent> buffer(buffer_events);
  while (const size_t n = decoder.Read(buffer, outcome.calls)) {
    outcome.events.insert(outcome.events.end(), buffer.begin(),
                          buffer.begin() + static_cast<std::ptrdiff_t>(n));
  }
  outcome.ok = decoder.ok();
  return outcome;
}

void DecodeTwice(std::string_view bytes) {
  const size_t header = 2;
  if (bytes.size() < header) return;
  const uint32_t count =
      static_cast<uint8_t>(bytes[0]) + 256u * static_cast<uint8_t>(bytes[1]);
  const std::string_view columns = bytes.substr(header);
  const Outcome large = Decode(columns, count, 4096);
  const Outcome small = Decode(columns, count, 3);
  LOOKASIDE_CHECK(large.ok == small.ok);
  (void)DecodeFooter(columns);
  if (!large.ok) return;
  LOOKASIDE_CHECK(large.events == small.events);
  LOOKASIDE_CHECK(large.calls == small.calls);
  LOOKASIDE_CHECK(large.events.size() == count);
  // What was decoded can be written, and is the same again.
  LktEventEncoder encoder;
  for (const TraceEvent& event : large.events) {
    if (event.kind != EventKind::kCall) {
      LOOKASIDE_CHECK(event.size >= 1);
      LOOKASIDE_CHECK(IsCanonical(event.address, 5));
    }
    if (encoder.full()) return;
    encoder.Add(event, large.calls);
  }
  const Outcome again = Decode(encoder.Take(), count, 4096);
  LOOKASIDE_CHECK(again.events == large.events);
  LOOKASIDE_CHECK(again.calls == large.calls);
}

}  // namespace
}  // namespace lookaside

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lookaside::DecodeTwice({reinterpret_cast<const char*>(data), size});
  return 0;
}
