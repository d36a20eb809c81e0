// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_REPORT_JSON_TEXT_H_
#define LOOKASIDE_REPORT_JSON_TEXT_H_

#include <string>

#include "nlohmann/json.hpp"

namespace lookaside {

// Keys stay in the order in which they were added.
using Json = nlohmann::ordered_json;

// As a file: two spaces of indentation, a newline at the end. Bytes that are
// no UTF-8 (of a file's name) become U+FFFD.
inline std::string JsonText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_JSON_TEXT_H_
