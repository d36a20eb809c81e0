// SPDX-License-Identifier: Apache-2.0
//
// The known name that a mistyped one was most likely meant to be.
#ifndef LOOKASIDE_CONFIG_NEAREST_H_
#define LOOKASIDE_CONFIG_NEAREST_H_

#include <span>
#include <string>
#include <string_view>

namespace lookaside {

// The element of `known` with the smallest edit distance to `name` (insertion,
// deletion, exchange of one character, swap of two neighbours; small and
// capital letters are the same); of equally near ones the first. "" when
// `known` is empty.
std::string Nearest(std::string_view name, std::span<const std::string> known);

// The same, but "" unless it may have been meant: at most a third of the
// longer of both is to be edited, or it begins with `name`, or with the table
// of `name` (all to the last dot).
std::string Suggest(std::string_view name, std::span<const std::string> known);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_NEAREST_H_
