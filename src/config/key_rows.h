// SPDX-License-Identifier: Apache-2.0
//
// Rows of the table of keys, from pointers to members. For the files of
// the table alone.
//
//   Rows<SimConfig> rows;
//   rows.Integer<&SimConfig::walk, &WalkConfig::walkers>(
//       "walk.walkers", 1, 64, "", "Walks that a core can have in flight");
#ifndef LOOKASIDE_CONFIG_KEY_ROWS_H_
#define LOOKASIDE_CONFIG_KEY_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lookaside/config/config_key.h"
#include "lookaside/config/key_field.h"

namespace lookaside {

// The field (object.*Path1).*Path2 ...
template <auto... Path>
std::optional<ConfigValue> GetField(const auto& object) {
  return FieldToValue((object.*....*Path));
}
template <auto... Path>
void PutField(auto& object, const ConfigValue& value) {
  ValueToField(value, (object.*....*Path));
}

template <typename Owner, auto... Path>
Key<Owner> MakeKey(KeyShape shape) {
  return {std::move(shape),
          [](const Owner& owner) { return GetField<Path...>(owner); },
          [](Owner& owner, const ConfigValue& value) {
            PutField<Path...>(owner, value);
          }};
}

// Rows of the table, by kind of value.
template <typename Owner>
class Rows {
 public:
  template <auto... Path>
  void Integer(std::string_view name, uint64_t min, uint64_t max,
               std::string_view unit, std::string_view doc) {
    Add<Path...>(KeyKind::kInteger, name, min, max, {}, unit, doc);
  }
  template <auto... Path>
  void Bool(std::string_view name, std::string_view doc) {
    Add<Path...>(KeyKind::kBool, name, 0, 0, {}, "", doc);
  }
  template <auto... Path>
  void Fraction(std::string_view name, std::string_view doc) {
    Add<Path...>(KeyKind::kFraction, name, 0, 0, {}, "", doc);
  }
  template <typename Enum, auto... Path>
  void Word(std::string_view name, std::string_view doc) {
    Add<Path...>(KeyKind::kWord, name, 0, 0, Words<Enum>(), "", doc);
  }
  template <auto... Path>
  void PageSizes(std::string_view name, std::string_view doc) {
    Add<Path...>(KeyKind::kPageSizeList, name, 0, 0, {"4K", "2M", "1G"}, "",
                 doc);
  }
  // A list of any of `words`, with accessors of its own.
  void WordList(std::string_view name, std::vector<std::string> words,
                std::optional<ConfigValue> (*get)(const Owner&),
                void (*set)(Owner&, const ConfigValue&), std::string_view doc) {
    keys_.push_back({{std::string(name), KeyKind::kWordList, 0, 0,
                      std::move(words), "", std::string(doc)},
                     get,
                     set});
  }
  // A row with accessors of its own.
  KeyShape& Other(Key<Owner> key) {
    return keys_.emplace_back(std::move(key)).shape;
  }
  KeyShape& last() { return keys_.back().shape; }

  std::vector<Key<Owner>> Take() { return std::move(keys_); }

 private:
  template <auto... Path>
  void Add(KeyKind kind, std::string_view name, uint64_t min, uint64_t max,
           std::vector<std::string> words, std::string_view unit,
           std::string_view doc) {
    keys_.push_back(MakeKey<Owner, Path...>(
        {std::string(name), kind, min, max, std::move(words), std::string(unit),
         std::string(doc)}));
  }

  std::vector<Key<Owner>> keys_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_KEY_ROWS_H_
