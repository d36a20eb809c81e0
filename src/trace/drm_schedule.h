// SPDX-License-Identifier: Apache-2.0
//
// The order in which the threads of a drmemtrace directory ran, as
// serial_schedule.bin.gz or cpu_schedule.bin.zip recorded it: packed records of
// 32 bytes, u64 thread, timestamp, cpu and first instruction. A thread that is
// scheduled there runs on to the first instruction of its next record. The
// cpu schedule has one member for each CPU; together, by timestamp, they are
// the same.
//
// Memory grows with the switches: 24 bytes for each, 56 while it is read.
#ifndef LOOKASIDE_TRACE_DRM_SCHEDULE_H_
#define LOOKASIDE_TRACE_DRM_SCHEDULE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/trace/byte_source.h"

namespace lookaside {

// A thread runs from one of its instructions to another.
struct DrmSlice {
  uint64_t tid = 0;
  uint64_t first = 0;
  uint64_t end = ~uint64_t{0};  // that of its next slice

  friend bool operator==(const DrmSlice&, const DrmSlice&) = default;
};

// In the order in which they run. Errors: no whole records, and a thread whose
// instructions go backwards.
absl::StatusOr<std::vector<DrmSlice>> ReadDrmSchedule(ByteSource& source);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DRM_SCHEDULE_H_
