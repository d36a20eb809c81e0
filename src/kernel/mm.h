// SPDX-License-Identifier: Apache-2.0
//
// An address space of the simulated kernel (Linux struct mm_struct). Today it
// is a page table and the PCID it runs under; there are no mappings yet, so
// every address of the program may be touched.
#ifndef LOOKASIDE_KERNEL_MM_H_
#define LOOKASIDE_KERNEL_MM_H_

#include "lookaside/base/ids.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/pagetable/page_table.h"

namespace lookaside {

struct Mm {
  PageTable table;
  Pcid pcid;

  friend bool operator==(const Mm&, const Mm&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_MM_H_
