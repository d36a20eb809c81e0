// SPDX-License-Identifier: Apache-2.0
//
// How many of what: keys `machine.*`.
#ifndef LOOKASIDE_MACHINE_MACHINE_CONFIG_H_
#define LOOKASIDE_MACHINE_MACHINE_CONFIG_H_

#include <cstdint>

#include "absl/status/status.h"

namespace lookaside {

// The most hardware threads that a machine may have.
inline constexpr uint32_t kMaxCpus = 4096;

struct TopologyConfig {
  uint32_t sockets = 1;
  uint32_t cores_per_socket = 1;
  uint32_t threads_per_core = 1;  // at most 8
  uint32_t mhz = 1000;            // of every core's clock
  uint32_t numa = 1;              // memory nodes per socket

  uint32_t cpus() const {
    return sockets * cores_per_socket * threads_per_core;
  }

  friend bool operator==(const TopologyConfig&,
                         const TopologyConfig&) = default;
};

// An error names the key, its value and what is allowed.
absl::Status Validate(const TopologyConfig& config);

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_MACHINE_CONFIG_H_
