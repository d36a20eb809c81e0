// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_BASE_PRINTABLE_H_
#define LOOKASIDE_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace lookaside {

// One line of text that holds what a user named (a path, a word of the command
// line) as a terminal may show it: bytes that a terminal would obey, C0 and C1
// control characters and what is no UTF-8, are '?', and the middle of a word
// of more than 200 bytes is "...".
std::string Printable(std::string_view text);

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_PRINTABLE_H_
