// SPDX-License-Identifier: Apache-2.0
//
// Names of things by number: hardware threads, address-space tags, NUMA nodes.
#ifndef LOOKASIDE_BASE_IDS_H_
#define LOOKASIDE_BASE_IDS_H_

#include <cstdint>

#include "lookaside/base/typed_int.h"

namespace lookaside {

struct CpuIdTag;
struct CoreIdTag;
struct SocketIdTag;
struct NodeIdTag;
struct PcidTag;
struct VpidTag;
struct ThreadSlotTag;
struct TreeIdTag;

// A hardware thread of the machine, 0 .. machine.cpus() - 1. Threads of one
// core are adjacent, cores of one socket are adjacent.
using CpuId = TypedInt<CpuIdTag, uint32_t>;
using CoreId = TypedInt<CoreIdTag, uint32_t>;
using SocketId = TypedInt<SocketIdTag, uint32_t>;
// A NUMA memory node.
using NodeId = TypedInt<NodeIdTag, uint32_t>;
// Process-context identifier, 12 bits (SDM volume 3, 4.10.1).
using Pcid = TypedInt<PcidTag, uint16_t>;
// Virtual-processor identifier; 0 is the host (SDM volume 3, 29.1).
using Vpid = TypedInt<VpidTag, uint16_t>;
// Which hardware thread of its core: 0 .. threads_per_core - 1.
using ThreadSlot = TypedInt<ThreadSlotTag, uint8_t>;
// A page table from its root down, for as long as it exists; never reused.
using TreeId = TypedInt<TreeIdTag, uint32_t>;

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_IDS_H_
