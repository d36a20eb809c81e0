// SPDX-License-Identifier: Apache-2.0
//
// A trace held in memory: for tests, benchmarks, and programs that make their
// own events and calls.
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
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

class VectorReader final : public TraceReader {
 public:
  // The n-th event of kind kCall stands for calls[n], whatever its address.
  // REQUIRES: as many such events as calls.
  VectorReader(std::string name, std::vector<TraceEvent> events,
               std::vector<MemoryCall> calls = {});

  size_t Read(std::span<TraceEvent> events) override;
  std::span<const MemoryCall> calls() const override { return last_calls_; }
  const absl::Status& status() const override { return status_; }

  // Of the events and calls read so far; bytes are those of all events as they
  // lie in memory, and xxh3 is of all events and calls. Walks through them.
  TraceInfo info() const override;

  // Begins again at the first event.
  void Rewind();

 private:
  void NumberCalls(std::span<TraceEvent> events);

  const std::string name_;
  const std::vector<TraceEvent> events_;
  const std::vector<MemoryCall> calls_;
  size_t next_ = 0;
  size_t next_call_ = 0;
  std::span<const MemoryCall> last_calls_;
  const absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_VECTOR_READER_H_
