// SPDX-License-Identifier: Apache-2.0
//
// The value of one key, independent of the struct it is kept in: what the
// resolved configuration is written from (`config show`, the result JSON).
#ifndef LOOKASIDE_CONFIG_CONFIG_VALUE_H_
#define LOOKASIDE_CONFIG_CONFIG_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lookaside/base/permille.h"

namespace lookaside {

// A size in bytes is a string ("1T"); a fraction is a Permille.
using ConfigValue = std::variant<bool, uint64_t, Permille, std::string,
                                 std::vector<std::string>>;

// As TOML: true, 1536, 0.25, "linear", ["4K", "2M"].
std::string ToToml(const ConfigValue& value);

// "0", "0.25", "1": no trailing zeros.
std::string ToString(Permille fraction);

// Text as a TOML basic string, quotes included; always one line.
std::string Quote(std::string_view text);

// "4K", "2M", "1G", "1T" or a plain number of bytes; nothing else, and nothing
// that overflows.
std::optional<uint64_t> ParseSize(std::string_view text);

// The shortest form that ParseSize reads back: 2097152 is "2M".
std::string SizeToString(uint64_t bytes);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_CONFIG_VALUE_H_
