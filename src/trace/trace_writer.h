// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace in some format. What a format cannot hold is dropped and
// told, kind by kind, in dropped().
//
//   while (const size_t n = reader->Read(buffer)) {
//     LOOKASIDE_RETURN_IF_ERROR(
//         writer->Write({buffer.data(), n}, reader->calls()));
//   }
//   LOOKASIDE_RETURN_IF_ERROR(reader->status());
//   LOOKASIDE_RETURN_IF_ERROR(writer->Finish(reader->info()));
//
// Without Finish nothing is left of what was written.
#ifndef LOOKASIDE_TRACE_TRACE_WRITER_H_
#define LOOKASIDE_TRACE_TRACE_WRITER_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// Not thread-safe.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;

  // `calls`: those that events of kind kCall name by their index.
  // REQUIRES: no call before it failed; not finished.
  virtual absl::Status Write(std::span<const TraceEvent> events,
                             std::span<const MemoryCall> calls) = 0;

  // `info`: of the trace whose events all have been written.
  virtual absl::Status Finish(const TraceInfo& info) = 0;

  // What the format could not hold, in a fixed order, only count > 0.
  virtual std::vector<SkippedRecords> dropped() const { return {}; }
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_TRACE_WRITER_H_
