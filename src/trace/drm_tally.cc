// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_tally.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace lookaside {
namespace {

void Add(std::string_view kind, uint64_t count,
         std::vector<SkippedRecords>& skipped) {
  if (count > 0) skipped.push_back({std::string(kind), count});
}

// `format`: with a place for the name of the call.
void AddCalls(const std::array<uint64_t, kCallKinds>& calls,
              std::string_view format, std::vector<SkippedRecords>& skipped) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string_view name = Name(static_cast<CallKind>(i));
    Add(fmt::format(fmt::runtime(format), name), calls[i], skipped);
  }
}

}  // namespace

void DrmTally::CountOutcome(DrmCall::Outcome outcome, CallKind kind) {
  const auto index = static_cast<size_t>(kind);
  switch (outcome) {
    case DrmCall::Outcome::kNone:
    case DrmCall::Outcome::kCall:
      break;
    case DrmCall::Outcome::kWithoutArguments:
      ++without_arguments[index];
      break;
    case DrmCall::Outcome::kWithoutResult:
      ++without_result[index];
      break;
    case DrmCall::Outcome::kWithoutAddress:
      ++without_address[index];
      break;
  }
}

std::vector<SkippedRecords> DrmTally::Skipped(bool merged) const {
  std::vector<SkippedRecords> skipped;
  AddCalls(without_arguments, "argumentless {} calls", skipped);
  AddCalls(without_result, "resultless {} calls", skipped);
  AddCalls(without_address, "{} calls without the address of the result",
           skipped);
  Add("other system calls", other_system_calls, skipped);
  Add("kernel instructions", kernel_instructions, skipped);
  Add("kernel accesses", kernel_accesses, skipped);
  Add("markers of traced functions", function_markers, skipped);
  for (uint16_t type = 0; type < kDrmTypes; ++type) {
    Add(DrmTypeName(type), types[type], skipped);
  }
  for (uint16_t marker = 0; marker < kDrmMarkers; ++marker) {
    if (marker == kDrmTimestamp && merged) continue;
    Add(DrmMarkerName(marker), markers[marker], skipped);
  }
  Add("reserved markers", reserved_markers, skipped);
  Add("user-defined markers", user_markers, skipped);
  return skipped;
}

}  // namespace lookaside
