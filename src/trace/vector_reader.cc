// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/vector_reader.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"

namespace lookaside {

VectorReader::VectorReader(std::string name, std::vector<TraceEvent> events)
    : name_(std::move(name)), events_(std::move(events)) {}

size_t VectorReader::Read(std::span<TraceEvent> events) {
  LOOKASIDE_DCHECK(!events.empty());
  const size_t count = std::min(events.size(), events_.size() - next_);
  std::copy_n(events_.begin() + static_cast<ptrdiff_t>(next_), count,
              events.begin());
  next_ += count;
  return count;
}

TraceInfo VectorReader::info() const {
  TraceInfo info;
  info.name = name_;
  info.format = "memory";
  info.bytes = events_.size() * sizeof(TraceEvent);
  Digest digest;
  digest.AddBytes(events_.data(), info.bytes);
  info.xxh3 = digest.Finish().ToString();
  info.events = next_;
  for (const TraceEvent& event : std::span(events_).first(next_)) {
    info.accesses += Accesses(event.kind);
  }
  return info;
}

}  // namespace lookaside
