// SPDX-License-Identifier: Apache-2.0
//
// How a field of a config struct becomes a ConfigValue and back, by its type.
// For config_key.cc alone.
#ifndef LOOKASIDE_CONFIG_KEY_FIELD_H_
#define LOOKASIDE_CONFIG_KEY_FIELD_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/permille.h"
#include "lookaside/config/config_value.h"
#include "lookaside/kernel/kernel_config.h"
#include "lookaside/machine/machine_config.h"
#include "lookaside/pagetable/walk_config.h"
#include "lookaside/tlb/psc_config.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

// The words of an enumeration, in the order of its values.
template <typename Enum>
inline constexpr std::string_view kWordsOf[1] = {};
template <>
inline constexpr std::string_view kWordsOf<TlbSide>[] = {"data", "inst",
                                                         "unified"};
template <>
inline constexpr std::string_view kWordsOf<TlbReplacement>[] = {
    "lru", "fifo", "random", "tree_plru", "mru3_plru2", "mru3_plru4"};
template <>
inline constexpr std::string_view kWordsOf<TlbHash>[] = {"linear", "xor7",
                                                         "xor8"};
template <>
inline constexpr std::string_view kWordsOf<TlbSmt>[] = {
    "competitive", "partitioned", "replicated"};
template <>
inline constexpr std::string_view kWordsOf<TlbInclusion>[] = {
    "none", "inclusive", "exclusive"};
template <>
inline constexpr std::string_view kWordsOf<InvlpgScope>[] = {"pcid", "address"};
template <>
inline constexpr std::string_view kWordsOf<ApicMode>[] = {"flat", "cluster"};
template <>
inline constexpr std::string_view kWordsOf<ThpPolicy>[] = {"never", "madvise",
                                                           "always"};

template <>
inline constexpr std::string_view kWordsOf<KernelVersion>[] = {
    "linux_3.4",  "linux_3.6",  "linux_3.17",
    "linux_4.14", "linux_5.13", "linux_6.15"};
template <>
inline constexpr std::string_view kWordsOf<FlushPolicyKind>[] = {
    "auto",      "always_full", "shift", "ceiling", "never_full",
    "early_ack", "abis",        "latr",  "bound",   "clairvoyant"};
template <>
inline constexpr std::string_view kWordsOf<ReplayPlacement>[] = {
    "recorded", "pack", "spread", "round_robin"};
template <>
inline constexpr std::string_view kWordsOf<ReplayOperations>[] = {"apply",
                                                                  "ignore"};
template <>
inline constexpr std::string_view kWordsOf<RemoteFlushKind>[] = {"auto", "ipi",
                                                                 "invlpgb"};
template <>
inline constexpr std::string_view kWordsOf<ReplayOrder>[] = {"auto", "recorded",
                                                             "timed"};
template <>
inline constexpr std::string_view kWordsOf<LazyMode>[] = {"auto", "off", "ipi",
                                                          "skip"};
template <typename Enum>
  requires std::is_enum_v<Enum>
std::vector<std::string> Words() {
  return {std::begin(kWordsOf<Enum>), std::end(kWordsOf<Enum>)};
}

template <typename Enum>
  requires std::is_enum_v<Enum>
ConfigValue FieldToValue(Enum field) {
  return std::string(kWordsOf<Enum>[static_cast<size_t>(field)]);
}
inline ConfigValue FieldToValue(bool field) { return field; }
inline ConfigValue FieldToValue(uint32_t field) { return uint64_t{field}; }
inline ConfigValue FieldToValue(uint64_t field) { return field; }
inline ConfigValue FieldToValue(Permille field) { return field; }
inline ConfigValue FieldToValue(PageSizeSet field) {
  std::vector<std::string> names;
  for (const PageSize size : kAllPageSizes) {
    if (field.Has(size)) names.emplace_back(Name(size));
  }
  return names;
}

// REQUIRES: `value` is one that FieldToValue could have made.
template <typename Enum>
  requires std::is_enum_v<Enum>
void ValueToField(const ConfigValue& value, Enum& field) {
  const auto& word = std::get<std::string>(value);
  for (size_t i = 0; i < std::size(kWordsOf<Enum>); ++i) {
    if (word == kWordsOf<Enum>[i]) field = static_cast<Enum>(i);
  }
}
inline void ValueToField(const ConfigValue& value, bool& field) {
  field = std::get<bool>(value);
}
template <std::unsigned_integral Int>
void ValueToField(const ConfigValue& value, Int& field) {
  field = static_cast<Int>(std::get<uint64_t>(value));
}
inline void ValueToField(const ConfigValue& value, Permille& field) {
  field = std::get<Permille>(value);
}
inline void ValueToField(const ConfigValue& value, PageSizeSet& field) {
  field = PageSizeSet();
  for (const auto& name : std::get<std::vector<std::string>>(value)) {
    for (const PageSize size : kAllPageSizes) {
      if (name == Name(size)) field.Add(size);
    }
  }
}

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_KEY_FIELD_H_
