// SPDX-License-Identifier: Apache-2.0
//
// Layers by name: embedded presets, files, and what they inherit from.
#ifndef LOOKASIDE_CONFIG_PRESET_LAYERS_H_
#define LOOKASIDE_CONFIG_PRESET_LAYERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/config/config_layer.h"

namespace lookaside {

// The preset when nothing else is named.
inline constexpr std::string_view kDefaultPreset = "skylake-sp";

// All presets, by name.
std::vector<std::string> PresetNames();

// A preset stands on its own: it has no base. Its origins are
// "preset <name>", without a line.
absl::StatusOr<ConfigLayer> ReadPreset(std::string_view name);

// "-" is standard input.
absl::StatusOr<ConfigLayer> ReadFileLayer(const std::string& path);

// `top` and all that it inherits, the lowest first; see rule 1 of
// config_loader.h. Unless `files_allowed`, `base` may only name presets.
absl::StatusOr<std::vector<ConfigLayer>> WithBases(ConfigLayer top,
                                                   bool files_allowed);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_PRESET_LAYERS_H_
