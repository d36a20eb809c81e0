// SPDX-License-Identifier: Apache-2.0
//
// A page that some TLB array of a core holds.
#ifndef LOOKASIDE_MACHINE_CACHED_PAGE_H_
#define LOOKASIDE_MACHINE_CACHED_PAGE_H_

#include <compare>

#include "lookaside/base/address.h"

namespace lookaside {

struct CachedPage {
  VirtPage page;                  // the first it covers
  PageSize size = PageSize::k4K;  // as it is held

  friend auto operator<=>(const CachedPage&, const CachedPage&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_CACHED_PAGE_H_
