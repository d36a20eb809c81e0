// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/raw_value.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lookaside/base/status.h"
#include "lookaside/config/nearest.h"

namespace lookaside {
namespace {

std::optional<ConfigValue> ToInteger(const KeyShape& shape,
                                     const RawValue& raw) {
  const int64_t* const number = std::get_if<int64_t>(&raw.value);
  if (number == nullptr || *number < 0) return std::nullopt;
  const auto value = static_cast<uint64_t>(*number);
  if (value < shape.min || value > shape.max) return std::nullopt;
  return value;
}

std::optional<ConfigValue> ToWord(const KeyShape& shape, const RawValue& raw) {
  const std::string* const word = std::get_if<std::string>(&raw.value);
  if (word == nullptr) return std::nullopt;
  if (std::ranges::find(shape.words, *word) == shape.words.end()) {
    return std::nullopt;
  }
  return *word;
}

std::optional<ConfigValue> ToBool(const RawValue& raw) {
  const bool* const value = std::get_if<bool>(&raw.value);
  if (value == nullptr) return std::nullopt;
  return *value;
}

std::optional<ConfigValue> ToFraction(const RawValue& raw) {
  double number = -1;
  if (const auto* integer = std::get_if<int64_t>(&raw.value)) {
    if (*integer == 0 || *integer == 1) number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&raw.value)) {
    number = *real;
  }
  if (!(number >= 0 && number <= 1)) return std::nullopt;
  const double thousandths = std::round(number * Permille::kOne);
  // A decimal fraction is a hair off in binary; a fourth decimal is far more.
  if (std::abs(number * Permille::kOne - thousandths) > 1e-6) {
    return std::nullopt;
  }
  return Permille(static_cast<uint32_t>(thousandths));
}

std::optional<ConfigValue> ToSize(const KeyShape& shape, const RawValue& raw) {
  std::optional<uint64_t> bytes;
  if (const auto* text = std::get_if<std::string>(&raw.value)) {
    bytes = ParseSize(*text);
  } else if (const auto* number = std::get_if<int64_t>(&raw.value)) {
    if (*number >= 0) bytes = static_cast<uint64_t>(*number);
  }
  if (!bytes || *bytes < shape.min || *bytes > shape.max) return std::nullopt;
  return SizeToString(*bytes);
}

std::optional<ConfigValue> ToWords(const KeyShape& shape, const RawValue& raw) {
  std::vector<std::string> given;
  if (const auto* list = std::get_if<std::vector<std::string>>(&raw.value)) {
    given = *list;
  } else if (const auto* one = std::get_if<std::string>(&raw.value);
             one != nullptr && raw.is_option) {
    if (!one->empty()) given = {*one};
  } else {
    return std::nullopt;
  }
  std::vector<std::string> words;  // in the order in which they will be shown
  for (const std::string& word : shape.words) {
    if (std::ranges::find(given, word) != given.end()) words.push_back(word);
  }
  const bool may_be_empty = shape.kind == KeyKind::kWordList;
  if (given.empty() && !may_be_empty) return std::nullopt;
  if (words.size() != given.size()) return std::nullopt;
  return words;
}

std::optional<ConfigValue> Convert(const KeyShape& shape, const RawValue& raw) {
  switch (shape.kind) {
    case KeyKind::kInteger:
      return ToInteger(shape, raw);
    case KeyKind::kLimit: {
      const std::optional<ConfigValue> word = ToWord(shape, raw);
      return word ? word : ToInteger(shape, raw);
    }
    case KeyKind::kBool:
      return ToBool(raw);
    case KeyKind::kFraction:
      return ToFraction(raw);
    case KeyKind::kSize:
      return ToSize(shape, raw);
    case KeyKind::kWord:
      return ToWord(shape, raw);
    case KeyKind::kPageSizeList:
    case KeyKind::kWordList:
      return ToWords(shape, raw);
  }
  return std::nullopt;
}

}  // namespace

std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return line;
}

std::string Excerpt(std::string_view text) {
  constexpr size_t kLongest = 60;
  if (text.size() <= kLongest) return OneLine(text);
  size_t end = kLongest;
  // Not within a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    --end;
  }
  return OneLine(text.substr(0, end)) + "...";
}

absl::StatusOr<ConfigValue> ConvertValue(std::string_view key,
                                         const KeyShape& shape,
                                         const RawValue& raw) {
  if (std::optional<ConfigValue> value = Convert(shape, raw)) return *value;
  std::string hint;
  const std::string* const word = std::get_if<std::string>(&raw.value);
  if (word != nullptr && shape.kind == KeyKind::kWord) {
    const std::string meant = Suggest(*word, shape.words);
    if (!meant.empty()) hint = fmt::format("; did you mean '{}'?", meant);
  }
  return InvalidArgument("{} = {}: expected {}{}", key, raw.text,
                         Allowed(shape), hint);
}

}  // namespace lookaside
