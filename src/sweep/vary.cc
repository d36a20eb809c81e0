// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/vary.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/config/config_value.h"

namespace lookaside {
namespace {

// A number of a range: `scaled` is it times 10^decimals.
struct Number {
  uint64_t scaled = 0;
  unsigned decimals = 0;
  char unit = 0;  // K, M, G or T of a size
};

constexpr uint64_t kMostScaled = uint64_t{1} << 62;

std::optional<uint64_t> ParseInteger(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end ||
      value > kMostScaled) {
    return std::nullopt;
  }
  return value;
}

std::optional<Number> ParseNumber(std::string_view text) {
  Number number;
  if (!text.empty() &&
      std::string_view("KMGT").find(text.back()) != std::string_view::npos) {
    number.unit = text.back();
    text.remove_suffix(1);
  }
  std::string digits(text);
  const size_t point = digits.find('.');
  if (point != std::string::npos) {
    number.decimals = static_cast<unsigned>(digits.size() - point - 1);
    digits.erase(point, 1);
    if (point == 0 || number.decimals == 0 || number.decimals > 9) {
      return std::nullopt;
    }
  }
  const std::optional<uint64_t> scaled = ParseInteger(digits);
  if (!scaled) return std::nullopt;
  number.scaled = *scaled;
  return number;
}

std::string ToText(uint64_t scaled, unsigned decimals) {
  std::string text = fmt::format("{:0{}}", scaled, decimals + 1);
  if (decimals == 0) return text;
  text.insert(text.size() - decimals, ".");
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

unsigned ShiftOf(char unit) {
  return 10 * static_cast<unsigned>(std::string_view("\0KMGT", 5).find(unit));
}

struct Range {
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t step = 1;
  bool factor = false;  // multiply by `step`
  unsigned decimals = 0;
  bool size = false;

  uint64_t One() const {
    uint64_t one = 1;
    for (unsigned i = 0; i < decimals; ++i) one *= 10;
    return one;
  }
  std::string Text(uint64_t value) const {
    return size ? SizeToString(value) : ToText(value, decimals);
  }
};

absl::Status BadRange(std::string_view part, std::string_view why) {
  return InvalidArgument(
      "'{}': {}; a range is lo..hi, lo..hi:step or lo..hi:*factor", part, why);
}

// Brings `number` to the range's own scale; whether that is possible.
bool Scale(const Range& range, const Number& number, uint64_t& value) {
  value = number.scaled;
  if (range.size) {
    const unsigned shift = ShiftOf(number.unit);
    if (number.decimals != 0 || value > kMostScaled >> shift) return false;
    value <<= shift;
    return true;
  }
  for (unsigned i = number.decimals; i < range.decimals; ++i) {
    if (value > kMostScaled / 10) return false;
    value *= 10;
  }
  return true;
}

absl::StatusOr<Range> ParseRange(std::string_view part) {
  const size_t dots = part.find("..");
  const size_t colon = part.find(':', dots);
  const std::optional<Number> low = ParseNumber(part.substr(0, dots));
  const std::optional<Number> high = ParseNumber(part.substr(
      dots + 2, colon == std::string_view::npos ? std::string_view::npos
                                                : colon - dots - 2));
  if (!low || !high) return BadRange(part, "its bounds are not numbers");
  Range range;
  Number step{.scaled = 1};
  if (colon != std::string_view::npos) {
    std::string_view text = part.substr(colon + 1);
    range.factor = text.starts_with('*');
    if (range.factor) text.remove_prefix(1);
    const std::optional<Number> parsed = ParseNumber(text);
    if (!parsed) return BadRange(part, "its step is not a number");
    step = *parsed;
  }
  range.size = low->unit != 0 || high->unit != 0;
  range.decimals = std::max(low->decimals, high->decimals);
  if (range.factor) {
    if (step.decimals != 0 || step.unit != 0 || step.scaled < 2) {
      return BadRange(part, "its factor is not an integer of at least 2");
    }
    range.step = step.scaled;
  } else {
    range.decimals = std::max(range.decimals, step.decimals);
    if (!Scale(range, step, range.step) || range.step == 0) {
      return BadRange(part, "its step is not above 0");
    }
  }
  if (!Scale(range, *low, range.low) || !Scale(range, *high, range.high)) {
    return BadRange(part, "its bounds are out of range");
  }
  if (range.low > range.high) {
    return BadRange(part, "its first bound is above its second");
  }
  return range;
}

absl::Status AddRange(std::string_view part, std::vector<std::string>& values) {
  LOOKASIDE_ASSIGN_OR_RETURN(const Range range, ParseRange(part));
  for (uint64_t value = range.low; value <= range.high;) {
    if (values.size() == kMostSweepPoints) {
      return BadRange(
          part, fmt::format("it has more than {} values", kMostSweepPoints));
    }
    values.push_back(range.Text(value));
    if (!range.factor) {
      value += range.step;
    } else if (value > range.high / range.step) {
      break;
    } else {
      value = value == 0 ? range.One() : value * range.step;
    }
  }
  return absl::OkStatus();
}

// At commas outside brackets and quotes.
std::vector<std::string_view> SplitList(std::string_view list) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(list.substr(begin));
  return parts;
}

}  // namespace

absl::StatusOr<Vary> ParseVary(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return InvalidArgument(
        "--vary {}: expected KEY=LIST, such as tlb.stlb.entries=512,1024",
        text);
  }
  Vary vary;
  vary.key = text.substr(0, equals);
  for (const std::string_view part : SplitList(text.substr(equals + 1))) {
    if (part.empty()) {
      return InvalidArgument(
          "--vary {}: a value of the list is empty; a list is a,b,c or lo..hi",
          text);
    }
    if (part.find("..") == std::string_view::npos) {
      vary.values.emplace_back(part);
      continue;
    }
    const absl::Status added = AddRange(part, vary.values);
    if (!added.ok()) {
      return InvalidArgument("--vary {}: {}", vary.key, Message(added));
    }
  }
  std::vector<std::string> sorted = vary.values;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return InvalidArgument("--vary {}: {} is in the list twice", vary.key,
                           *twice);
  }
  return vary;
}

}  // namespace lookaside
