// SPDX-License-Identifier: Apache-2.0
//
// Text of a bad file as an error message may show it: about 60 characters at
// most, and bytes that a terminal could trip over as \xNN.
#ifndef LOOKASIDE_TRACE_QUOTED_H_
#define LOOKASIDE_TRACE_QUOTED_H_

#include <string>
#include <string_view>

namespace lookaside {

// In single quotes; "..." stands inside them for what was cut off.
std::string Quoted(std::string_view text);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_QUOTED_H_
