// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/quoted.h"

#include <fmt/format.h>

#include <cstddef>

namespace lookaside {

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string out = "'";
  for (const char c : text) {
    if (out.size() > kMost) return out + "...'";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out + "'";
}

}  // namespace lookaside
