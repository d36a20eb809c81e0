// SPDX-License-Identifier: Apache-2.0
//
// On which hardware thread each thread of a recording runs
// (`replay.placement`). Thread 0 is always on `replay.cpu`; the others follow
// it, and begin again after the machine's last hardware thread:
//
//   pack         next to each other: siblings, then cores, then sockets
//   spread       as far apart as can be: sockets, then cores, then siblings
//   round_robin  a core each, in the order of cores, then siblings
//   recorded     where the recording says that it ran; a recording that says
//                nothing of it is placed as by round_robin
//
// Source: taskset and numactl habits; Linux itself spreads over idle cores.
#ifndef LOOKASIDE_REPLAY_PLACEMENT_H_
#define LOOKASIDE_REPLAY_PLACEMENT_H_

#include <cstdint>

#include "lookaside/base/ids.h"
#include "lookaside/config/replay_config.h"
#include "lookaside/machine/topology.h"

namespace lookaside {

// REQUIRES: first.value() < topology.cpus().
CpuId PlaceThread(ReplayPlacement placement, const Topology& topology,
                  CpuId first, uint32_t thread);

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_PLACEMENT_H_
