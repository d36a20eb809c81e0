// SPDX-License-Identifier: Apache-2.0
//
// Whether TLBs of a given shape could be built.
#ifndef LOOKASIDE_TLB_VALIDATE_TLB_H_
#define LOOKASIDE_TLB_VALIDATE_TLB_H_

#include <cstdint>

#include "absl/status/status.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

// Names given once, sets a power of two, ways that suit the replacement, sets
// that the hash reaches, banks that match, and on each side a first level for
// 4K pages. An error names the key, its value and what would be right.
// `threads_per_core` matters to partitioned arrays.
absl::Status Validate(const TlbHierarchyConfig& config,
                      uint32_t threads_per_core);

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_VALIDATE_TLB_H_
