// SPDX-License-Identifier: Apache-2.0
//
// A page fault, as a value: what #PF tells the operating system (SDM volume
// 3, 4.7). Raising it has dropped the address's entries from the TLBs and the
// paging-structure caches of the hardware thread (4.10.4.1).
#ifndef LOOKASIDE_MACHINE_FAULT_H_
#define LOOKASIDE_MACHINE_FAULT_H_

#include "lookaside/base/address.h"
#include "lookaside/pagetable/page_walker.h"

namespace lookaside {

struct Fault {
  VirtAddr address;  // CR2, at the granularity of the page touched
  WalkFault kind = WalkFault::kNotPresent;
  WalkAccess access;

  friend bool operator==(const Fault& a, const Fault& b) {
    return a.address == b.address && a.kind == b.kind &&
           a.access.write == b.access.write && a.access.user == b.access.user &&
           a.access.fetch == b.access.fetch;
  }
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_FAULT_H_
