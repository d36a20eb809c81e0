// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/record_streams.h"

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

// So that memory is given back as the window moves on.
constexpr size_t kMostPartEvents = 65536;

}  // namespace

void RecordStreams::FeedAccess(const TraceEvent& event) {
  std::deque<Part>& parts = parts_[event.thread];
  if (parts.empty() || parts.back().is_call ||
      parts.back().epoch != calls_fed_ ||
      parts.back().events.size() == kMostPartEvents) {
    parts.emplace_back();
    parts.back().epoch = calls_fed_;
  }
  parts.back().events.push_back(event);
  ++unplayed_.back();
  ++queued_;
}

void RecordStreams::FeedCall(const MemoryCall& call) {
  if (!applies_calls_) return;
  Part part;
  part.epoch = calls_fed_;
  part.is_call = true;
  part.call = call;
  parts_[call.thread].push_back(part);
  ++calls_fed_;
  ++queued_;
  unplayed_.push_back(0);
}

void RecordStreams::Feed(std::span<const TraceEvent> events,
                         std::span<const MemoryCall> calls) {
  for (const TraceEvent& event : events) {
    if (event.kind != EventKind::kCall) {
      FeedAccess(event);
      continue;
    }
    const uint64_t number = event.address.value();
    LOOKASIDE_CHECK(number < calls.size());
    FeedCall(calls[number]);
  }
}

std::vector<uint32_t> RecordStreams::threads() const {
  std::vector<uint32_t> threads;
  for (const auto& [thread, parts] : parts_) threads.push_back(thread);
  return threads;
}

ThreadStep RecordStreams::Next(uint32_t thread) {
  const auto found = parts_.find(thread);
  if (found == parts_.end() || found->second.empty()) {
    return {.kind = ended_ ? ThreadStep::Kind::kEnd : ThreadStep::Kind::kWaits};
  }
  const Part& part = found->second.front();
  const bool before_a_mark = part.epoch > calls_done_;
  if (before_a_mark || (part.is_call && unplayed_.front() > 0)) {
    return {.kind = ThreadStep::Kind::kWaits};
  }
  if (part.is_call) {
    return {.kind = ThreadStep::Kind::kCall, .call = &part.call};
  }
  return {.kind = ThreadStep::Kind::kAccesses,
          .events = std::span(part.events).subspan(part.played)};
}

bool RecordStreams::Played(uint32_t thread, size_t events) {
  std::deque<Part>& parts = parts_[thread];
  Part& part = parts.front();
  LOOKASIDE_CHECK(!part.is_call && part.epoch == calls_done_);
  part.played += events;
  LOOKASIDE_CHECK(part.played <= part.events.size());
  if (part.played == part.events.size()) parts.pop_front();
  unplayed_.front() -= events;
  queued_ -= events;
  return events > 0 && unplayed_.front() == 0;
}

void RecordStreams::Returned(uint32_t thread) {
  std::deque<Part>& parts = parts_[thread];
  LOOKASIDE_CHECK(parts.front().is_call && parts.front().epoch == calls_done_);
  parts.pop_front();
  ++calls_done_;
  --queued_;
  unplayed_.pop_front();
}

}  // namespace lookaside
