// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/format_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lookaside {
namespace {

// Two decimals, or as many as two significant digits need.
std::string Decimals(double value, double distance) {
  int digits = 2;
  for (double v = distance; v < 0.1 && digits < 9; v *= 10) ++digits;
  return fmt::format("{:.{}f}", value, digits);
}

}  // namespace

std::string Grouped(uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string Counted(uint64_t number, std::string_view one,
                    std::string_view several) {
  return fmt::format("{} {}", Grouped(number), number == 1 ? one : several);
}

std::string Percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  if (part == 0) return "0 %";
  if (part == whole) return "100 %";
  const double percent =
      100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent >= 1000) {
    return Grouped(static_cast<uint64_t>(std::llround(percent))) + " %";
  }
  if (percent > 100) return Decimals(percent, percent) + " %";
  return Decimals(percent, std::min(percent, 100 - percent)) + " %";
}

std::string Ratio(double part, uint64_t whole) {
  if (whole == 0) return "-";
  if (part == 0) return "0";
  const double ratio = part / static_cast<double>(whole);
  return Decimals(ratio, ratio);
}

}  // namespace lookaside
