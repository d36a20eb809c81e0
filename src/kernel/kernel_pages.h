// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own data: kernel.footprint pages that every entry from a program
// touches, so that operations take room in the TLBs. They are mapped in the
// upper half of every address space, as the direct map is (Linux
// Documentation/arch/x86/x86_64/mm.rst): global, unless page-table isolation
// gives the kernel PCIDs of its own.
//
// Left out: which pages an operation touches (always the same ones here), the
// kernel's instructions, pages that it maps or unmaps. Each address space has
// tables of its own for these pages, where Linux shares them.
#ifndef LOOKASIDE_KERNEL_KERNEL_PAGES_H_
#define LOOKASIDE_KERNEL_KERNEL_PAGES_H_

#include "absl/status/status.h"
#include "lookaside/base/address.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/kernel_rules.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/pagetable/physical_memory.h"

namespace lookaside {

// The `number`th page of the footprint.
VirtPage KernelPage(const KernelRules& rules, uint32_t number);

// Maps them in a new address space: ResourceExhausted if there is no memory
// for the tables.
absl::Status MapKernelPages(const KernelRules& rules, PhysicalMemory& memory,
                            const PageTable& table, NodeId node);

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_KERNEL_PAGES_H_
