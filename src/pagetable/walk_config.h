// SPDX-License-Identifier: Apache-2.0
//
// What a page walk costs: keys `walk.*`, and the shape of page tables:
// `paging.*`.
//
// cost of a walk = base_cycles + the sum over its loads of the latency of the
// place that holds the page-table line, less the fraction `overlap` of that
// total which out-of-order execution hides.
#ifndef LOOKASIDE_PAGETABLE_WALK_CONFIG_H_
#define LOOKASIDE_PAGETABLE_WALK_CONFIG_H_

#include <cstdint>

#include "absl/status/status.h"
#include "lookaside/base/permille.h"

namespace lookaside {

// The share of one level of the cache hierarchy that page-table lines keep.
struct LineCacheConfig {
  uint32_t lines = 0;  // 64-byte lines; 0 is no such cache
  uint32_t ways =
      0;  // at most 16; divides `lines`, the quotient a power of two
  uint32_t cycles = 0;  // of a load that hits here

  friend bool operator==(const LineCacheConfig&,
                         const LineCacheConfig&) = default;
};

struct WalkConfig {
  uint32_t base_cycles = 0;  // start and end of a walk without its loads
  uint32_t walkers = 1;      // walks a core can have in flight, all threads
  Permille overlap{};        // of a walk's cycles that execution hides
  // How much the program's data crowds page-table lines out of the caches:
  // each cache below keeps only the rest of its ways (rounded up), and none
  // at 1.
  Permille data_pressure{};
  LineCacheConfig l1;             // per core
  LineCacheConfig l2;             // per core
  LineCacheConfig l3;             // per socket
  uint32_t local_memory_ns = 0;   // a load from the walking socket's node
  uint32_t remote_memory_ns = 0;  // from any other node

  friend bool operator==(const WalkConfig&, const WalkConfig&) = default;
};

enum class ThpPolicy : uint8_t { kNever, kMadvise, kAlways };

struct PagingConfig {
  uint32_t levels = 4;  // 4 or 5
  ThpPolicy thp = ThpPolicy::kNever;
  // Physical memory of each NUMA node, in bytes; a multiple of 1 GiB.
  uint64_t node_memory = uint64_t{1} << 40;

  friend bool operator==(const PagingConfig&, const PagingConfig&) = default;
};

absl::Status Validate(const WalkConfig& config);
absl::Status Validate(const PagingConfig& config);

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_WALK_CONFIG_H_
