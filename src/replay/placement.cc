// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/placement.h"

namespace lookaside {
namespace {

struct Place {
  uint32_t socket;
  uint32_t core;    // of the socket
  uint32_t thread;  // of the core
};

CpuId CpuAt(const Topology& topology, const Place& place) {
  const uint32_t core = place.socket * topology.cores_per_socket() + place.core;
  return CpuId(core * topology.threads_per_core() + place.thread);
}

Place PlaceOf(const Topology& topology, CpuId cpu) {
  const uint32_t core = topology.CoreOf(cpu).value();
  return {core / topology.cores_per_socket(),
          core % topology.cores_per_socket(), topology.ThreadOf(cpu).value()};
}

// The hardware threads numbered so that neighbours are far apart: sockets
// count fastest, siblings slowest.
uint32_t SpreadNumber(const Topology& topology, const Place& place) {
  return (place.thread * topology.cores_per_socket() + place.core) *
             topology.sockets() +
         place.socket;
}

Place SpreadPlace(const Topology& topology, uint32_t number) {
  const uint32_t socket = number % topology.sockets();
  const uint32_t rest = number / topology.sockets();
  return {socket, rest % topology.cores_per_socket(),
          rest / topology.cores_per_socket()};
}

// Cores count fastest, siblings slowest.
uint32_t RoundNumber(const Topology& topology, CpuId cpu) {
  return topology.ThreadOf(cpu).value() * topology.cores() +
         topology.CoreOf(cpu).value();
}

CpuId RoundPlace(const Topology& topology, uint32_t number) {
  return CpuId(number % topology.cores() * topology.threads_per_core() +
               number / topology.cores());
}

}  // namespace

CpuId PlaceThread(ReplayPlacement placement, const Topology& topology,
                  CpuId first, uint32_t thread) {
  const uint32_t cpus = topology.cpus();
  const uint32_t step = thread % cpus;
  switch (placement) {
    case ReplayPlacement::kPack:
      return CpuId((first.value() + step) % cpus);
    case ReplayPlacement::kSpread: {
      const uint32_t from = SpreadNumber(topology, PlaceOf(topology, first));
      return CpuAt(topology, SpreadPlace(topology, (from + step) % cpus));
    }
    case ReplayPlacement::kRecorded:
    case ReplayPlacement::kRoundRobin:
      break;
  }
  return RoundPlace(topology, (RoundNumber(topology, first) + step) % cpus);
}

}  // namespace lookaside
