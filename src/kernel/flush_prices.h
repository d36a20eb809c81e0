// SPDX-License-Identifier: Apache-2.0
//
// What a flush will have cost, from the future: for kernel.flush.policy =
// clairvoyant, a yardstick. By page, every CPU that runs the address space pays
// for each page. As a whole, each pays for one write of CR3, and for the walks
// that bring back what it holds of the address space now, lies outside the
// range, and will be used again. A walk is taken to cost what the CPU's walks
// have cost on average (or cost.refill, where that is set).
//
// Leaves out: CPUs that do not run it, which catch up later; flushes that come
// before the next use; entries that would have been evicted; the kernel's own
// pages and paging-structure caches; broadcasts by INVLPGB, which are priced as
// if each CPU dropped pages for itself; interrupts, which both pay for.
#ifndef LOOKASIDE_KERNEL_FLUSH_PRICES_H_
#define LOOKASIDE_KERNEL_FLUSH_PRICES_H_

#include "lookaside/kernel/flush_info.h"
#include "lookaside/kernel/flush_policy.h"
#include "lookaside/kernel/kernel_context.h"

namespace lookaside {

// REQUIRES: !info.all. Without foresight, everything is used again.
FlushPrices PricesOf(KernelContext& k, const FlushInfo& info);

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FLUSH_PRICES_H_
