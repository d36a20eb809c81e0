// SPDX-License-Identifier: Apache-2.0
//
// How a trace is to be opened, where that does not follow from its content.
#ifndef LOOKASIDE_TRACE_TRACE_OPTIONS_H_
#define LOOKASIDE_TRACE_TRACE_OPTIONS_H_

#include <cstdint>
#include <optional>

#include "lookaside/trace/byte_source.h"

namespace lookaside {

enum class TraceFormat : uint8_t { kLackey, kDrmemtrace, kLkt };

// What says how the threads of a drmemtrace directory follow one another.
enum class ThreadOrder : uint8_t {
  kTimestamps,      // those in the files
  kSerialSchedule,  // serial_schedule.bin.gz
  kCpuSchedule,     // cpu_schedule.bin.zip
};

struct TraceOptions {
  std::optional<TraceFormat> format;  // none: by content
  uint64_t max_expansion = ByteSource::kMaxExpansion;
  ThreadOrder order = ThreadOrder::kTimestamps;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_TRACE_OPTIONS_H_
