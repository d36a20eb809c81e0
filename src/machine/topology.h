// SPDX-License-Identifier: Apache-2.0
//
// Which core, socket and memory node a hardware thread belongs to. Threads of
// a core are numbered next to each other, cores of a socket likewise, and
// memory nodes are dealt to the cores of their socket in equal parts.
//
//   Topology topology({.sockets = 2, .cores_per_socket = 4,
//                      .threads_per_core = 2});
//   topology.CoreOf(CpuId(9)) == CoreId(4)
#ifndef LOOKASIDE_MACHINE_TOPOLOGY_H_
#define LOOKASIDE_MACHINE_TOPOLOGY_H_

#include <cstdint>

#include "lookaside/base/ids.h"
#include "lookaside/machine/machine_config.h"

namespace lookaside {

// A constant value. CPU arguments must be below cpus().
class Topology {
 public:
  // REQUIRES: Validate(config) is OK.
  explicit Topology(const TopologyConfig& config) : config_(config) {}

  uint32_t cpus() const { return config_.cpus(); }
  uint32_t cores() const { return config_.sockets * config_.cores_per_socket; }
  uint32_t sockets() const { return config_.sockets; }
  uint32_t nodes() const { return config_.sockets * config_.numa; }
  uint32_t nodes_per_socket() const { return config_.numa; }
  uint32_t cores_per_socket() const { return config_.cores_per_socket; }
  uint32_t threads_per_core() const { return config_.threads_per_core; }
  ApicMode apic() const { return config_.apic; }
  uint32_t mhz() const { return config_.mhz; }

  CoreId CoreOf(CpuId cpu) const {
    return CoreId(cpu.value() / config_.threads_per_core);
  }
  ThreadSlot ThreadOf(CpuId cpu) const {
    return ThreadSlot(
        static_cast<uint8_t>(cpu.value() % config_.threads_per_core));
  }
  SocketId SocketOf(CpuId cpu) const {
    return SocketId(CoreOf(cpu).value() / config_.cores_per_socket);
  }
  NodeId NodeOf(CpuId cpu) const {
    const uint32_t core = CoreOf(cpu).value() % config_.cores_per_socket;
    return NodeId(SocketOf(cpu).value() * config_.numa +
                  core * config_.numa / config_.cores_per_socket);
  }

 private:
  TopologyConfig config_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_TOPOLOGY_H_
