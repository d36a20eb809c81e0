// SPDX-License-Identifier: Apache-2.0
//
// From the command line to a checked configuration.
//
//   LoadConfig({.file = "my.toml", .sets = {"tlb.stlb.entries=2048"}})
//
// Later layers override earlier ones, key by key:
//
//   base < file < --cpu < --set < --vary
//
//  1. A file inherits from `base`: a preset, another file (a path that ends in
//     ".toml", relative to the file that names it), or "none" for nothing but
//     what a default-constructed SimConfig has. Without `base` it is the
//     preset kDefaultPreset. At most 16 files inherit from one another.
//  2. A preset is a whole processor: with --cpu its TLB arrays replace all
//     arrays of the file. Keys that it does not give (replay.*) stay.
//  3. A file may add an array by giving all its required keys. --set and
//     --vary never do. `entries = 0` removes one, in any layer.
//  4. A layer that changes `entries` and not `ways` of a fully associative
//     array leaves it fully associative.
//  5. A cost in one unit replaces an inherited one in the other. Both units in
//     one file are an error.
//
// Every error is one line: where, key = value, what is allowed, and the
// nearest known name. No global state; safe to call from any thread.
#ifndef LOOKASIDE_CONFIG_CONFIG_LOADER_H_
#define LOOKASIDE_CONFIG_CONFIG_LOADER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/config/loaded_config.h"
#include "lookaside/config/preset_layers.h"
#include "lookaside/config/sim_config.h"

namespace lookaside {

// What the command line asked for; empty: not given.
struct ConfigRequest {
  std::string file;               // --config; "-" is standard input
  std::string cpu;                // --cpu
  std::vector<std::string> sets;  // --set, each "key=value"
};

absl::StatusOr<LoadedConfig> LoadConfig(const ConfigRequest& request);

// The same for TOML text that is already in memory, called `name` in errors.
// `base` may only name presets.
absl::StatusOr<LoadedConfig> LoadConfigText(std::string_view name,
                                            std::string_view text);

// One layer of assignments "key=value" over a loaded configuration, all
// checked together; `option` is what errors and origins call it ("--vary").
// On an error `loaded` is unchanged.
absl::Status ApplyAssignments(LoadedConfig& loaded, std::string_view option,
                              std::span<const std::string> assignments);

// A preset alone.
absl::StatusOr<SimConfig> LoadPreset(std::string_view name);

struct PresetInfo {
  std::string name;         // "skylake-sp"
  std::string description;  // one line
};

// All presets, by name; PresetNames() (config/preset_layers.h) reads none.
std::vector<PresetInfo> ListPresets();

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_CONFIG_LOADER_H_
