// SPDX-License-Identifier: Apache-2.0
//
// A configuration by its keys: change one, list all, fingerprint the whole.
//
//   SimConfig config = LoadPreset("zen3").value();
//   absl::Status status = Set(config, "tlb.stlb_data.entries", "4096");
//   for (const ResolvedKey& k : Resolve(config)) Print(k.key, ToToml(k.value));
//
// Pure functions: safe to call from any thread.
#ifndef LOOKASIDE_CONFIG_CONFIG_EDIT_H_
#define LOOKASIDE_CONFIG_CONFIG_EDIT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "lookaside/config/config_value.h"
#include "lookaside/config/sim_config.h"

namespace lookaside {

// Sets one key, as `--set KEY=VALUE` does. The value is a TOML value or a bare
// word; a list may also be written 4K,2M. Only the value's own range is
// checked: call Validate() when all keys are set. On an error `config` is
// unchanged.
//
// An array cannot be created; `entries` = 0 removes it. A fully associative
// array stays so when its `entries` change: set `ways` afterwards if not.
absl::Status Set(SimConfig& config, std::string_view key,
                 std::string_view value);

struct ResolvedKey {
  std::string key;  // "tlb.stlb.entries"
  ConfigValue value;

  friend bool operator==(const ResolvedKey&, const ResolvedKey&) = default;
};

// Every key that has a value, in the order of docs/configuration.md, arrays in
// their own order. A cost appears under the unit it was given in, and
// `cost.refill_*` only when set. Two configurations are equal exactly when
// their resolved keys are.
std::vector<ResolvedKey> Resolve(const SimConfig& config);

// 32 hexadecimal digits: XXH3-128 of the lines "key = value" of Resolve().
std::string ConfigHash(const SimConfig& config);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_CONFIG_EDIT_H_
