// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookaside {
namespace {

template <typename Owner>
const Key<Owner>* Find(std::span<const Key<Owner>> keys,
                       std::string_view name) {
  for (const Key<Owner>& key : keys) {
    if (key.shape.name == name) return &key;
  }
  return nullptr;
}

// Longer ones would make every message about them unreadable.
constexpr size_t kLongestArrayName = 40;

bool IsArrayName(std::string_view name) {
  if (name.empty() || name.size() > kLongestArrayName) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
         std::string_view::npos;
}

}  // namespace

const Key<SimConfig>* FindSimKey(std::string_view name) {
  return Find(SimKeys(), name);
}

const Key<TlbConfig>* FindArrayKey(std::string_view name) {
  return Find(ArrayKeys(), name);
}

std::optional<ArrayKeyName> SplitArrayKey(std::string_view key) {
  if (!key.starts_with("tlb.")) return std::nullopt;
  key.remove_prefix(4);
  const size_t dot = key.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  if (!IsArrayName(key.substr(0, dot))) return std::nullopt;
  return ArrayKeyName{key.substr(0, dot), key.substr(dot + 1)};
}

std::string OtherUnit(std::string_view key) {
  if (!key.starts_with("cost.")) return "";
  const auto with = [&key](std::string_view mine, std::string_view other) {
    return fmt::format("{}{}", key.substr(0, key.size() - mine.size()), other);
  };
  if (key.ends_with("_ns")) return with("_ns", "_cycles");
  if (key.ends_with("_cycles")) return with("_cycles", "_ns");
  return "";
}

std::string Allowed(const KeyShape& shape) {
  switch (shape.kind) {
    case KeyKind::kInteger:
      return fmt::format("an integer from {} to {}", shape.min, shape.max);
    case KeyKind::kLimit:
      return fmt::format("an integer from {} to {}, or {}", shape.min,
                         shape.max, shape.words.front());
    case KeyKind::kBool:
      return "true or false";
    case KeyKind::kFraction:
      return "a fraction from 0 to 1 with at most three decimals";
    case KeyKind::kSize:
      return fmt::format("a size from {} to {}", SizeToString(shape.min),
                         SizeToString(shape.max));
    case KeyKind::kWord:
      return fmt::format("one of {}", fmt::join(shape.words, ", "));
    case KeyKind::kPageSizeList:
      return fmt::format("a list of {}, each at most once",
                         fmt::join(shape.words, ", "));
    case KeyKind::kWordList:
      return fmt::format("a list of any of {}, each at most once",
                         fmt::join(shape.words, ", "));
  }
  return "";
}

}  // namespace lookaside
