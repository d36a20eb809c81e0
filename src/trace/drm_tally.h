// SPDX-License-Identifier: Apache-2.0
//
// How many records of each kind a drmemtrace trace has, and which of them are
// of no use to the model.
#ifndef LOOKASIDE_TRACE_DRM_TALLY_H_
#define LOOKASIDE_TRACE_DRM_TALLY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookaside/trace/drm_call.h"
#include "lookaside/trace/drm_record.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct DrmTally {
  std::array<uint64_t, kDrmTypes> types{};  // of those in Skipped() only
  std::array<uint64_t, kDrmMarkers> markers{};
  uint64_t reserved_markers = 0;  // kDrmMarkers up to kDrmFirstUserMarker
  uint64_t user_markers = 0;
  // In the sections that trace the kernel.
  uint64_t kernel_instructions = 0;
  uint64_t kernel_accesses = 0;
  // Of functions of the program, which are no system calls.
  uint64_t function_markers = 0;
  uint64_t other_system_calls = 0;  // that are no memory-management calls
  // Memory-management calls that say too little to be applied, by CallKind.
  std::array<uint64_t, kCallKinds> without_arguments{};
  std::array<uint64_t, kCallKinds> without_result{};
  std::array<uint64_t, kCallKinds> without_address{};  // of the mapping made
  uint64_t sizeless = 0;                               // accesses of size 0

  void CountMarker(uint16_t marker) {
    if (marker < kDrmMarkers) {
      ++markers[marker];
    } else if (marker < kDrmFirstUserMarker) {
      ++reserved_markers;
    } else {
      ++user_markers;
    }
  }

  void CountOutcome(DrmCall::Outcome outcome, CallKind kind);

  // In a fixed order, only count > 0. `merged`: timestamps were used.
  std::vector<SkippedRecords> Skipped(bool merged) const;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DRM_TALLY_H_
