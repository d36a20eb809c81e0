// SPDX-License-Identifier: Apache-2.0
//
// How a trace begins, which tells its format.
#ifndef LOOKASIDE_TRACE_READ_HEAD_H_
#define LOOKASIDE_TRACE_READ_HEAD_H_

#include <cstddef>
#include <string>

#include "lookaside/trace/byte_source.h"

namespace lookaside {

inline constexpr size_t kHeadBytes = 4096;

// The first text, less than kHeadBytes only at the end or on error.
std::string ReadHead(ByteSource& source);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_READ_HEAD_H_
