// SPDX-License-Identifier: Apache-2.0
//
// Locals of the programs that handle page faults.
#ifndef LOOKASIDE_KERNEL_FAULT_STEPS_H_
#define LOOKASIDE_KERNEL_FAULT_STEPS_H_

#include <cstdint>

#include "lookaside/base/address.h"
#include "lookaside/kernel/kernel_context.h"

namespace lookaside {

struct FaultLocals {
  MmId mm = kNoMm;
  bool write = false;
  bool fetch = false;
  bool handled = false;  // by a program that was called
  bool large = false;    // what was allocated
  VirtAddr address;
  Pte seen;           // the entry, as read
  FrameNumber frame;  // allocated, or found in an object
  uint64_t allocated = 0;

  VirtPage page() const { return PageOf(address); }
};

// Also of do_wp_page.
struct CopyLocals {
  MmId mm = kNoMm;
  uint32_t unused = 0;
  VirtPage page;
  FrameNumber before;
  FrameNumber copy;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FAULT_STEPS_H_
