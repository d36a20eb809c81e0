// SPDX-License-Identifier: Apache-2.0
//
// One source of settings (a file, a preset, the --set options) as a list of
// assignments, and laying it over a configuration.
#ifndef LOOKASIDE_CONFIG_CONFIG_LAYER_H_
#define LOOKASIDE_CONFIG_CONFIG_LAYER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/config/loaded_config.h"
#include "lookaside/config/raw_value.h"

namespace lookaside {

struct Assignment {
  std::string key;  // dotted
  // Absent: an empty table of that name, which sets nothing.
  std::optional<RawValue> value;
  ConfigOrigin origin;
};

struct ConfigLayer {
  std::string name;  // of the file; what errors begin with
  std::optional<Assignment> base;
  std::string description;
  std::vector<Assignment> assignments;  // in the order of the text
  bool is_preset = false;
  bool is_file = false;  // may add arrays; may not set one thing twice
};

// `place: message`, but `--set message`.
absl::Status Locate(std::string_view place, const absl::Status& status);

// TOML text. Origins are "name:line" and the comment behind the value.
absl::StatusOr<ConfigLayer> ParseTomlLayer(std::string_view name,
                                           std::string_view text);

// A value of --set: TOML, a bare word, or words separated by commas.
RawValue ParseRawValue(std::string_view text);

// "key=value"; `option` is the place.
absl::StatusOr<Assignment> ParseAssignment(std::string_view option,
                                           std::string_view text);

// Lays `layer` over `loaded`; see the rules in config_loader.h. On an error
// `loaded` may be half changed.
absl::Status ApplyLayer(const ConfigLayer& layer, LoadedConfig& loaded);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_CONFIG_LAYER_H_
