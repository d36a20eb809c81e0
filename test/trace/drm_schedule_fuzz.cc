// SPDX-License-Identifier: Apache-2.0
// Any bytes, taken for a schedule: reading must not crash, and slices of a
// thread must follow one another.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lookaside/base/check.h"
#include "lookaside/trace/byte_source.h"
#include "lookaside/trace/drm_schedule.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto source = lookaside::ByteSource::FromMemory(
      "fuzz", {reinterpret_cast<const char*>(data), size});
  if (!source.ok()) return 0;
  const auto slices = lookaside::ReadDrmSchedule(**source);
  if (!slices.ok()) return 0;
  for (const lookaside::DrmSlice& slice : *slices) {
    LOOKASIDE_CHECK(slice.first <= slice.end);
  }
  return 0;
}
