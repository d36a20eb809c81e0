// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_value.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace lookaside {
namespace {

constexpr std::string_view kSuffixes = "KMGT";

struct TomlWriter {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(uint64_t value) const { return fmt::to_string(value); }
  std::string operator()(Permille value) const { return ToString(value); }
  std::string operator()(const std::string& value) const {
    return Quote(value);
  }
  std::string operator()(const std::vector<std::string>& values) const {
    std::string text = "[";
    for (const std::string& value : values) {
      if (text.size() > 1) text += ", ";
      text += Quote(value);
    }
    return text + "]";
  }
};

}  // namespace

std::string ToToml(const ConfigValue& value) {
  return std::visit(TomlWriter(), value);
}

std::string ToString(Permille fraction) {
  const uint32_t thousandths = fraction.thousandths();
  if (thousandths % Permille::kOne == 0) {
    return fmt::to_string(thousandths / Permille::kOne);
  }
  std::string text = fmt::format("{}.{:03}", thousandths / Permille::kOne,
                                 thousandths % Permille::kOne);
  while (text.back() == '0') text.pop_back();
  return text;
}

std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  unsigned shift = 0;
  if (!text.empty()) {
    const size_t suffix = kSuffixes.find(text.back());
    if (suffix != std::string_view::npos) {
      shift = 10 * static_cast<unsigned>(suffix + 1);
      text.remove_suffix(1);
    }
  }
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (number > (~uint64_t{0} >> shift)) return std::nullopt;
  return number << shift;
}

std::string SizeToString(uint64_t bytes) {
  size_t suffixes = 0;
  while (bytes != 0 && bytes % 1024 == 0 && suffixes < kSuffixes.size()) {
    bytes /= 1024;
    ++suffixes;
  }
  std::string text = fmt::to_string(bytes);
  if (suffixes > 0) text += kSuffixes[suffixes - 1];
  return text;
}

}  // namespace lookaside
