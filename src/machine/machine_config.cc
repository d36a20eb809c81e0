// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/machine_config.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

constexpr uint32_t kMaxThreadsPerCore = 8;
constexpr uint32_t kMaxNodesPerSocket = 8;
constexpr uint32_t kMaxMhz = 100'000;

absl::Status CheckRange(std::string_view key, uint32_t value, uint32_t most) {
  if (value >= 1 && value <= most) return absl::OkStatus();
  return InvalidArgument("machine.{} = {}: must be from 1 to {}", key, value,
                         most);
}

// "1, 2, 3, 4".
std::string NodesThatFit(const TopologyConfig& config) {
  std::string nodes;
  for (uint32_t n = 1; n <= kMaxNodesPerSocket; ++n) {
    if (config.cores_per_socket % n != 0) continue;
    nodes += fmt::format("{}{}", nodes.empty() ? "" : ", ", n);
  }
  return nodes;
}

}  // namespace

absl::Status Validate(const TopologyConfig& config) {
  LOOKASIDE_RETURN_IF_ERROR(CheckRange("sockets", config.sockets, kMaxCpus));
  LOOKASIDE_RETURN_IF_ERROR(
      CheckRange("cores_per_socket", config.cores_per_socket, kMaxCpus));
  LOOKASIDE_RETURN_IF_ERROR(CheckRange(
      "threads_per_core", config.threads_per_core, kMaxThreadsPerCore));
  LOOKASIDE_RETURN_IF_ERROR(CheckRange("mhz", config.mhz, kMaxMhz));
  LOOKASIDE_RETURN_IF_ERROR(
      CheckRange("numa", config.numa, kMaxNodesPerSocket));
  const uint64_t cpus = uint64_t{config.sockets} * config.cores_per_socket *
                        config.threads_per_core;
  if (cpus > kMaxCpus) {
    return InvalidArgument(
        "machine: {} sockets of {} cores of {} threads are {} hardware "
        "threads; at most {} are possible",
        config.sockets, config.cores_per_socket, config.threads_per_core, cpus,
        kMaxCpus);
  }
  if (config.numa > config.cores_per_socket) {
    return InvalidArgument(
        "machine.numa = {}: a socket of {} cores has at most as many memory "
        "nodes",
        config.numa, config.cores_per_socket);
  }
  if (config.cores_per_socket % config.numa != 0) {
    return InvalidArgument(
        "machine.numa = {}: the cores of a socket (machine.cores_per_socket = "
        "{}) cannot be dealt to as many memory nodes in equal parts; {} can",
        config.numa, config.cores_per_socket, NodesThatFit(config));
  }
  return absl::OkStatus();
}

}  // namespace lookaside
