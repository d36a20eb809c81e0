// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/interconnect.h"

#include <bit>
#include <optional>

namespace lookaside {
namespace {

// Threads of a cluster: one bit each of the low half of a logical id.
constexpr unsigned kClusterBits = 4;

}  // namespace

Interconnect::Interconnect(const Topology& topology, const CostModel& costs)
    : topology_(topology),
      write_(costs.ipi_send),
      wake_(costs.ipi_wake),
      latency_{costs.ipi_latency_core, costs.ipi_latency_socket,
               costs.ipi_latency_remote},
      acknowledgement_{costs.ack_core, costs.ack_socket, costs.ack_remote} {}

uint32_t Interconnect::ClusterOf(CpuId cpu) const {
  const auto bits_for = [](uint32_t count) {
    return static_cast<unsigned>(std::bit_width(count - 1));
  };
  const unsigned thread_bits = bits_for(topology_.threads_per_core());
  const unsigned core_bits = bits_for(topology_.cores_per_socket());
  const uint32_t core =
      topology_.CoreOf(cpu).value() % topology_.cores_per_socket();
  const uint32_t apic_id =
      topology_.SocketOf(cpu).value() << (core_bits + thread_bits) |
      core << thread_bits | topology_.ThreadOf(cpu).value();
  // A socket with fewer than 16 ids still has a cluster to itself.
  const unsigned socket_bits = core_bits + thread_bits;
  return apic_id >> (socket_bits < kClusterBits ? socket_bits : kClusterBits);
}

void Interconnect::ForEachWrite(
    const CpuSet& targets, absl::FunctionRef<void(const CpuSet&)> visit) const {
  const bool clusters = topology_.apic() == ApicMode::kCluster;
  CpuSet reached;
  std::optional<uint32_t> cluster;
  // Threads of a cluster are numbered next to each other.
  targets.ForEach([&](CpuId target) {
    const uint32_t its = clusters ? ClusterOf(target) : target.value();
    if (cluster && *cluster != its) {
      visit(reached);
      reached.Clear();
    }
    cluster = its;
    reached.Add(target);
  });
  if (!reached.empty()) visit(reached);
}

Cycles Interconnect::At(const ByDistance& costs, CpuId a, CpuId b) const {
  if (topology_.CoreOf(a) == topology_.CoreOf(b)) return costs.core;
  if (topology_.SocketOf(a) == topology_.SocketOf(b)) return costs.socket;
  return costs.remote;
}

Cycles Interconnect::Latency(CpuId from, CpuId to, bool halted) const {
  return At(latency_, from, to) + (halted ? wake_ : Cycles());
}

Cycles Interconnect::Acknowledgement(CpuId from, CpuId to) const {
  return At(acknowledgement_, from, to);
}

}  // namespace lookaside
