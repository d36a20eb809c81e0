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

// How the interrupt controllers are addressed (SDM volume 3, 11.6.2 and
// 11.12.10): by one write of the interrupt command register for each target,
// or for each x2APIC cluster.
enum class ApicMode : uint8_t { kFlat, kCluster };

// What software asks CPUID for.
struct CpuFeatures {
  bool pcid = false;
  bool invpcid = false;
  bool invlpgb = false;

  friend bool operator==(const CpuFeatures&, const CpuFeatures&) = default;
};

struct TopologyConfig {
  uint32_t sockets = 1;
  uint32_t cores_per_socket = 1;
  uint32_t threads_per_core = 1;  // at most 8
  uint32_t mhz = 1000;            // of every core's clock
  uint32_t numa = 1;              // memory nodes per socket
  ApicMode apic = ApicMode::kFlat;
  uint32_t model = 0;  // CPUID family << 8 | model; 0: none
  CpuFeatures features{};

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
