// SPDX-License-Identifier: Apache-2.0
//
// A value as somebody wrote it, before anything is known of its key, and its
// check against what the key allows.
#ifndef LOOKASIDE_CONFIG_RAW_VALUE_H_
#define LOOKASIDE_CONFIG_RAW_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/config/config_key.h"
#include "lookaside/config/config_value.h"

namespace lookaside {

struct RawValue {
  // Nothing: a date, a table, a list of something other than strings.
  std::variant<std::monostate, bool, int64_t, double, std::string,
               std::vector<std::string>>
      value;
  std::string text;  // for errors: one short line
  // As --set may write it: a single string also stands for a list of it.
  bool is_option = false;
};

// `text` with its control characters replaced: fit for a message or a comment.
std::string OneLine(std::string_view text);

// The same, cut to what an error message can bear.
std::string Excerpt(std::string_view text);

// The value in the form that `key` has. Errors: `key = text: expected ...`.
absl::StatusOr<ConfigValue> ConvertValue(std::string_view key,
                                         const KeyShape& shape,
                                         const RawValue& raw);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_RAW_VALUE_H_
