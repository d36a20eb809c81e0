// SPDX-License-Identifier: Apache-2.0
//
// What flushing did, on the hardware thread that did it: requests and
// interrupts on the initiator, invalidations where they ran.
#ifndef LOOKASIDE_KERNEL_FLUSH_COUNTERS_H_
#define LOOKASIDE_KERNEL_FLUSH_COUNTERS_H_

#include <cstdint>

namespace lookaside {

struct FlushCounters {
  uint64_t requests = 0;      // flushes asked for
  uint64_t pages = 0;         // of their ranges; a flush of all has none
  uint64_t invlpg = 0;        // pages invalidated one by one
  uint64_t full_local = 0;    // whole address spaces, by the initiator
  uint64_t full_remote = 0;   // ... by a target
  uint64_t ipis = 0;          // interrupts sent, one for each target
  uint64_t ipis_avoided = 0;  // CPUs of the cpumask that the filter spared
  uint64_t interrupts = 0;    // taken
  uint64_t wait_cycles = 0;   // of the initiator, for acknowledgements
  uint64_t broadcasts = 0;    // flushes that INVLPGB alone brought to all
  uint64_t skipped = 0;       // targets that an earlier flush had covered
  uint64_t deferred = 0;      // flushes left to other CPUs' ticks
  uint64_t swept = 0;         // of those, made good by this CPU

  FlushCounters& operator+=(const FlushCounters& other);
  // REQUIRES: `other` is an earlier state of the same counters.
  FlushCounters& operator-=(const FlushCounters& other);
  friend bool operator==(const FlushCounters&, const FlushCounters&) = default;
};

inline FlushCounters& FlushCounters::operator+=(const FlushCounters& other) {
  requests += other.requests;
  pages += other.pages;
  invlpg += other.invlpg;
  full_local += other.full_local;
  full_remote += other.full_remote;
  ipis += other.ipis;
  ipis_avoided += other.ipis_avoided;
  interrupts += other.interrupts;
  wait_cycles += other.wait_cycles;
  broadcasts += other.broadcasts;
  skipped += other.skipped;
  deferred += other.deferred;
  swept += other.swept;
  return *this;
}

inline FlushCounters& FlushCounters::operator-=(const FlushCounters& other) {
  requests -= other.requests;
  pages -= other.pages;
  invlpg -= other.invlpg;
  full_local -= other.full_local;
  full_remote -= other.full_remote;
  ipis -= other.ipis;
  ipis_avoided -= other.ipis_avoided;
  interrupts -= other.interrupts;
  wait_cycles -= other.wait_cycles;
  broadcasts -= other.broadcasts;
  skipped -= other.skipped;
  deferred -= other.deferred;
  swept -= other.swept;
  return *this;
}

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FLUSH_COUNTERS_H_
