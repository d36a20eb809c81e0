// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/vector_reader.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"

namespace lookaside {

namespace {

void AddTo(Digest& digest, const MemoryCall& call) {
  digest.Add(static_cast<uint8_t>(call.kind));
  digest.Add(call.thread);
  digest.Add(call.process);
  digest.Add(call.error);
  digest.Add(call.address.value());
  digest.Add(call.length);
  digest.Add(call.new_address.value());
  digest.Add(call.new_length);
  digest.Add(call.offset);
  digest.Add(call.result.value());
  digest.Add(call.prot);
  digest.Add(call.flags);
  digest.Add(call.advice);
  digest.Add(call.fd);
  digest.Add(call.child);
}

}  // namespace

VectorReader::VectorReader(std::string name, std::vector<TraceEvent> events,
                           std::vector<MemoryCall> calls)
    : name_(std::move(name)),
      events_(std::move(events)),
      calls_(std::move(calls)) {
  LOOKASIDE_DCHECK(static_cast<size_t>(std::count_if(
                       events_.begin(), events_.end(), [](const TraceEvent& e) {
                         return e.kind == EventKind::kCall;
                       })) == calls_.size());
}

size_t VectorReader::Read(std::span<TraceEvent> events) {
  LOOKASIDE_DCHECK(!events.empty());
  const size_t count = std::min(events.size(), events_.size() - next_);
  std::copy_n(events_.begin() + static_cast<ptrdiff_t>(next_), count,
              events.begin());
  next_ += count;
  NumberCalls(events.first(count));
  return count;
}

void VectorReader::NumberCalls(std::span<TraceEvent> events) {
  last_calls_ = {};
  if (calls_.empty()) return;
  size_t calls = 0;
  for (TraceEvent& event : events) {
    if (event.kind == EventKind::kCall) event.address = VirtAddr(calls++);
  }
  last_calls_ = std::span(calls_).subspan(next_call_, calls);
  next_call_ += calls;
}

void VectorReader::Rewind() {
  next_ = 0;
  next_call_ = 0;
}

TraceInfo VectorReader::info() const {
  TraceInfo info;
  info.name = name_;
  info.format = "memory";
  info.bytes = events_.size() * sizeof(TraceEvent);
  Digest digest;
  digest.AddBytes(events_.data(), info.bytes);
  for (const MemoryCall& call : calls_) AddTo(digest, call);
  info.xxh3 = digest.Finish().ToString();
  info.events = next_ - next_call_;
  for (const TraceEvent& event : std::span(events_).first(next_)) {
    info.accesses += Accesses(event.kind);
    info.threads = std::max(info.threads, event.thread + 1);
    info.processes = std::max(info.processes, 1u);
  }
  for (const MemoryCall& call : std::span(calls_).first(next_call_)) {
    ++info.calls[static_cast<size_t>(call.kind)];
    if (!call.succeeded()) ++info.failed_calls;
    info.processes = std::max(info.processes, call.process + 1);
  }
  return info;
}

}  // namespace lookaside
