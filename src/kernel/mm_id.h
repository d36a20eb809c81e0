// SPDX-License-Identifier: Apache-2.0
//
// The number of an address space in its kernel's table. A number is used
// again after its address space is gone; Mm::ctx_id never is.
#ifndef LOOKASIDE_KERNEL_MM_ID_H_
#define LOOKASIDE_KERNEL_MM_ID_H_

#include <cstdint>

#include "lookaside/base/typed_int.h"

namespace lookaside {

struct MmIdTag;
using MmId = TypedInt<MmIdTag, uint32_t>;

// No address space: what runs is the kernel alone.
inline constexpr MmId kNoMm(~uint32_t{0});

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_MM_ID_H_
