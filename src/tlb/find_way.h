// SPDX-License-Identifier: Apache-2.0
//
// The scan of a set's keys. Fixed trip counts for the usual associativities
// let the compiler compare all ways without a branch on each; see
// BM_TlbLookup in bench/tlb_benchmark.cc.
#ifndef LOOKASIDE_TLB_FIND_WAY_H_
#define LOOKASIDE_TLB_FIND_WAY_H_

#include <cstdint>

namespace lookaside {

template <uint32_t kWays>
inline uint32_t FindWayOf(const uint64_t* keys, uint64_t key) {
  uint32_t found = kWays;
#pragma GCC unroll 16
  for (uint32_t way = 0; way < kWays; ++way) {
    found = keys[way] == key ? way : found;
  }
  return found;
}

// A way whose key is `key`, or `ways` if there is none.
inline uint32_t FindWay(const uint64_t* keys, uint32_t ways, uint64_t key) {
  switch (ways) {
    case 4:
      return FindWayOf<4>(keys, key);
    case 8:
      return FindWayOf<8>(keys, key);
    case 12:
      return FindWayOf<12>(keys, key);
    default:
      break;
  }
  // Fully associative arrays by eights, which halves BM_TlbLookup/fa_64_lru.
  uint32_t way = 0;
  for (; way + 8 <= ways; way += 8) {
    const uint32_t found = FindWayOf<8>(keys + way, key);
    if (found != 8) return way + found;
  }
  for (; way < ways; ++way) {
    if (keys[way] == key) return way;
  }
  return ways;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_FIND_WAY_H_
