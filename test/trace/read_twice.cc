// SPDX-License-Identifier: Apache-2.0
#include "lookaside/test/trace/read_twice.h"

#include <cstddef>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"

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

Outcome ReadAll(TraceReader& reader, size_t buffer_events) {
  // A small file may decompress to gigabytes.
  constexpr size_t kMostEvents = 200000;
  Outcome outcome;
  std::vector<TraceEvent> buffer(buffer_events);
  while (outcome.events.size() < kMostEvents) {
    const size_t count = reader.Read(buffer);
    if (count == 0) break;
    for (size_t i = 0; i < count && outcome.events.size() < kMostEvents; ++i) {
      Add(buffer[i], reader, outcome);
    }
  }
  const bool ok = reader.status().ok();
  LOOKASIDE_CHECK(ok || !reader.status().message().empty());
  const TraceInfo info = reader.info();
  LOOKASIDE_CHECK(info.events + AllCalls(info) >= outcome.events.size());
  return outcome;
}

}  // namespace

void ReadTwice(
    absl::FunctionRef<absl::StatusOr<std::unique_ptr<TraceReader>>()> open) {
  const auto first = open();
  const auto second = open();
  LOOKASIDE_CHECK(first.ok() == second.ok());
  if (!first.ok()) return;
  const Outcome large = ReadAll(**first, 4096);
  const Outcome small = ReadAll(**second, 3);
  LOOKASIDE_CHECK(large.events == small.events);
  LOOKASIDE_CHECK(large.calls == small.calls);
}

}  // namespace lookaside
