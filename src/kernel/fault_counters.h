// SPDX-License-Identifier: Apache-2.0
//
// Page faults of one hardware thread, by what the kernel made of them.
#ifndef LOOKASIDE_KERNEL_FAULT_COUNTERS_H_
#define LOOKASIDE_KERNEL_FAULT_COUNTERS_H_

#include <cstdint>

namespace lookaside {

struct FaultCounters {
  uint64_t minor = 0;     // a frame was mapped without waiting for a device
  uint64_t major = 0;     // ... after waiting for one
  uint64_t cow = 0;       // a shared frame was copied for a write
  uint64_t spurious = 0;  // the page table allowed the access after all
  uint64_t denied = 0;    // the program may not do that
  // Minor ones that mapped 4K for want of a free 2M block, Linux's
  // thp_fault_fallback.
  uint64_t thp_fallback = 0;

  FaultCounters& operator+=(const FaultCounters& other) {
    minor += other.minor;
    major += other.major;
    cow += other.cow;
    spurious += other.spurious;
    denied += other.denied;
    thp_fallback += other.thp_fallback;
    return *this;
  }
  FaultCounters& operator-=(const FaultCounters& other) {
    minor -= other.minor;
    major -= other.major;
    cow -= other.cow;
    spurious -= other.spurious;
    denied -= other.denied;
    thp_fallback -= other.thp_fallback;
    return *this;
  }
  friend bool operator==(const FaultCounters&, const FaultCounters&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FAULT_COUNTERS_H_
