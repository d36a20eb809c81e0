// SPDX-License-Identifier: Apache-2.0
//
// The last block of a native trace: what its origin told at its end, totals,
// and where each block is. Whoever reads a file from the front can check it
// against what it has read.
#ifndef LOOKASIDE_TRACE_LKT_FOOTER_H_
#define LOOKASIDE_TRACE_LKT_FOOTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct LktBlockPlace {
  uint64_t offset = 0;  // of the block's header in the file
  uint64_t events = 0;  // calls included

  friend bool operator==(const LktBlockPlace&, const LktBlockPlace&) = default;
};

struct LktFooter {
  // As TraceInfo: of the origin `xxh3`, `bytes`, `skipped` and `warnings`, of
  // the file's contents the rest. What is known at the beginning stands in the
  // header.
  TraceInfo info;
  std::vector<LktBlockPlace> blocks;
};

std::string EncodeFooter(const LktFooter& footer);

// Nothing if the bytes make no sense.
std::optional<LktFooter> DecodeFooter(std::string_view raw);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LKT_FOOTER_H_
