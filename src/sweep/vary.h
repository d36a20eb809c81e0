// SPDX-License-Identifier: Apache-2.0
//
// What --vary asks for: a key and the values it takes, in their order.
//
//   a,b,c        those values, each as --set would take it
//   lo..hi       lo, lo + 1, ... hi
//   lo..hi:step  lo, lo + step, ... as far as hi
//   lo..hi:*f    lo, lo * f, ... as far as hi; 0 counts once, then from 1
//
// Numbers of a range may have decimals (0..0.8:0.2) or be sizes (4K..1M:*2);
// values of a range are written as their bounds are. A comma within brackets
// or quotes separates nothing.
#ifndef LOOKASIDE_SWEEP_VARY_H_
#define LOOKASIDE_SWEEP_VARY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace lookaside {

struct Vary {
  std::string key;
  std::vector<std::string> values;  // at least one, all different

  friend bool operator==(const Vary&, const Vary&) = default;
};

// More points than this in one grid are an error, long before memory is.
inline constexpr size_t kMostSweepPoints = 100'000;

// Parses "KEY=LIST". Errors say which part of the list is wrong and what a
// list may be.
absl::StatusOr<Vary> ParseVary(std::string_view text);

}  // namespace lookaside

#endif  // LOOKASIDE_SWEEP_VARY_H_
