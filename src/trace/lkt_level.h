// SPDX-License-Identifier: Apache-2.0
//
// How hard a native trace is compressed: zstd's levels. What each gives is in
// bench/README.md.
#ifndef LOOKASIDE_TRACE_LKT_LEVEL_H_
#define LOOKASIDE_TRACE_LKT_LEVEL_H_

namespace lookaside {

inline constexpr int kLktDefaultLevel = 9;
inline constexpr int kLktLeastLevel = 1;
inline constexpr int kLktMostLevel = 22;

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LKT_LEVEL_H_
