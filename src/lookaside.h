// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_LOOKASIDE_H_
#define LOOKASIDE_LOOKASIDE_H_

// The whole library in one header.

namespace lookaside {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace lookaside

#endif  // LOOKASIDE_LOOKASIDE_H_
