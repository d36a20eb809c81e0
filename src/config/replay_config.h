// SPDX-License-Identifier: Apache-2.0
//
// How a recording is played: keys `replay.*`.
#ifndef LOOKASIDE_CONFIG_REPLAY_CONFIG_H_
#define LOOKASIDE_CONFIG_REPLAY_CONFIG_H_

#include <cstdint>

namespace lookaside {

// Where the threads of a recording run: replay/placement.h.
enum class ReplayPlacement : uint8_t {
  kRecorded,
  kPack,
  kSpread,
  kRoundRobin,
};

// What becomes of a recording's memory-management calls.
enum class ReplayOperations : uint8_t { kApply, kIgnore };

struct ReplayConfig {
  uint32_t cpu = 0;  // hardware thread of the recording's first thread
  ReplayPlacement placement = ReplayPlacement::kRecorded;
  ReplayOperations operations = ReplayOperations::kApply;
  uint64_t warmup = 0;  // accesses that run before counting starts
  bool strict = false;  // an access outside every known mapping is an error

  friend bool operator==(const ReplayConfig&, const ReplayConfig&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_REPLAY_CONFIG_H_
