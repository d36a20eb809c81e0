// SPDX-License-Identifier: Apache-2.0
//
// The table of configuration keys. Parsing, range checks, `config show`,
// `--set`, the result JSON and docs/configuration.md all come from it: a new
// field needs one row here and nothing else.
//
// Keys of a SimConfig have their full name ("walk.overlap"). Keys of one array
// have the last part alone ("entries" of "tlb.stlb.entries").
//
// The tables are built on first use and constant afterwards: safe to read from
// any thread.
#ifndef LOOKASIDE_CONFIG_CONFIG_KEY_H_
#define LOOKASIDE_CONFIG_CONFIG_KEY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lookaside/config/config_value.h"
#include "lookaside/config/sim_config.h"

namespace lookaside {

enum class KeyKind : uint8_t {
  kInteger,       // uint64_t, min..max
  kLimit,         // the same, or the one word of `words` for "no limit"
  kBool,          // bool
  kFraction,      // Permille
  kSize,          // string like "1T", min..max bytes
  kWord,          // one string of `words`
  kPageSizeList,  // strings of `words`, each at most once, at least one
  kWordList,      // the same, or none
};

// What a key's value may be.
struct KeyShape {
  std::string name;
  KeyKind kind = KeyKind::kInteger;
  uint64_t min = 0;
  uint64_t max = 0;
  std::vector<std::string> words;
  std::string unit;      // "", "cycles", "ns", ...
  std::string doc;       // one line, no final full stop
  bool required = true;  // of an array that a file adds
};

// `Owner` is SimConfig or TlbConfig.
template <typename Owner>
struct Key {
  KeyShape shape;
  // Nothing: the key has no value (a cost that is given in the other unit).
  std::optional<ConfigValue> (*get)(const Owner&) = nullptr;
  // REQUIRES: `value` fits `shape`, as ConvertValue makes sure.
  void (*set)(Owner&, const ConfigValue& value) = nullptr;
};

// In the order of docs/configuration.md: machine, tlb, psc, walk, paging,
// kernel, cost, replay.
std::span<const Key<SimConfig>> SimKeys();
std::span<const Key<TlbConfig>> ArrayKeys();

// Null if there is none of that name.
const Key<SimConfig>* FindSimKey(std::string_view name);
const Key<TlbConfig>* FindArrayKey(std::string_view name);

// "tlb.stlb.entries" in its parts; nothing if `key` is not "tlb.<name>.<field>"
// with a name of at most 40 lower-case letters, digits and underscores.
struct ArrayKeyName {
  std::string_view array;
  std::string_view field;
};
std::optional<ArrayKeyName> SplitArrayKey(std::string_view key);

// "cost.invlpg_cycles" for "cost.invlpg_ns" and the reverse; "" for other keys.
std::string OtherUnit(std::string_view key);

// "an integer from 1 to 8", "one of linear, xor7, xor8".
std::string Allowed(const KeyShape& shape);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_CONFIG_KEY_H_
