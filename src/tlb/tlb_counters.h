// SPDX-License-Identifier: Apache-2.0
//
// What one hardware thread did to one TLB array. Arrays are shared by
// siblings, so the counters belong to the thread that acts, not to the array.
#ifndef LOOKASIDE_TLB_TLB_COUNTERS_H_
#define LOOKASIDE_TLB_TLB_COUNTERS_H_

#include <cstdint>

namespace lookaside {

struct TlbCounters {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t fills = 0;
  uint64_t evictions = 0;    // entries displaced by a fill
  uint64_t invalidated = 0;  // entries dropped by a flush of any kind

  uint64_t lookups() const { return hits + misses; }

  TlbCounters& operator+=(const TlbCounters& other) {
    hits += other.hits;
    misses += other.misses;
    fills += other.fills;
    evictions += other.evictions;
    invalidated += other.invalidated;
    return *this;
  }
  TlbCounters& operator-=(const TlbCounters& other) {
    hits -= other.hits;
    misses -= other.misses;
    fills -= other.fills;
    evictions -= other.evictions;
    invalidated -= other.invalidated;
    return *this;
  }
  friend bool operator==(const TlbCounters&, const TlbCounters&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_TLB_COUNTERS_H_
