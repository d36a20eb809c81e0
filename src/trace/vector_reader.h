// SPDX-License-Identifier: Apache-2.0
//
// A trace held in memory: for tests, benchmarks, and programs that make their
// own events.
//
// Invariant: status() is always OK. Not thread-safe.
//
//   VectorReader reader("mine", {{VirtAddr(0x1000), 8, EventKind::kLoad}});
//   while (size_t n = reader.Read(buffer)) Use({buffer.data(), n});
//   reader.Rewind();
#ifndef LOOKASIDE_TRACE_VECTOR_READER_H_
#define LOOKASIDE_TRACE_VECTOR_READER_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

class VectorReader final : public TraceReader {
 public:
  VectorReader(std::string name, std::vector<TraceEvent> events);

  size_t Read(std::span<TraceEvent> events) override;
  const absl::Status& status() const override { return status_; }

  // Of the events read so far; xxh3 and bytes are of all events, as they lie
  // in memory. Walks through the events.
  TraceInfo info() const override;

  // Begins again at the first event.
  void Rewind() { next_ = 0; }

 private:
  const std::string name_;
  const std::vector<TraceEvent> events_;
  size_t next_ = 0;
  const absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_VECTOR_READER_H_
