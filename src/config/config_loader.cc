// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_loader.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/config/blame.h"
#include "lookaside/config/config_key.h"
#include "lookaside/config/config_layer.h"
#include "lookaside/config/preset_layers.h"

namespace lookaside {
namespace {

absl::Status Check(const LoadedConfig& loaded) {
  return BlameSetting(loaded, Validate(loaded.config));
}

absl::StatusOr<LoadedConfig> ApplyAll(const std::vector<ConfigLayer>& layers) {
  LoadedConfig loaded;
  for (const ConfigLayer& layer : layers) {
    LOOKASIDE_RETURN_IF_ERROR(ApplyLayer(layer, loaded));
  }
  return loaded;
}

// --cpu: a preset over what a file made.
absl::Status ApplyCpu(std::string_view name, LoadedConfig& loaded) {
  absl::StatusOr<ConfigLayer> preset = ReadPreset(name);
  if (!preset.ok()) return Locate("--cpu", preset.status());
  loaded.config.tlb.arrays.clear();
  loaded.removed.clear();
  std::erase_if(loaded.origins, [](const auto& origin) {
    return SplitArrayKey(origin.first).has_value();
  });
  return ApplyLayer(*preset, loaded);
}

absl::Status ApplySets(LoadedConfig& loaded, std::string_view option,
                       std::span<const std::string> assignments) {
  ConfigLayer layer;
  for (const std::string& text : assignments) {
    LOOKASIDE_ASSIGN_OR_RETURN(Assignment assignment,
                               ParseAssignment(option, text));
    layer.assignments.push_back(std::move(assignment));
  }
  return ApplyLayer(layer, loaded);
}

}  // namespace

absl::StatusOr<LoadedConfig> LoadConfig(const ConfigRequest& request) {
  std::vector<ConfigLayer> layers;
  if (!request.file.empty()) {
    LOOKASIDE_ASSIGN_OR_RETURN(ConfigLayer file, ReadFileLayer(request.file));
    LOOKASIDE_ASSIGN_OR_RETURN(layers, WithBases(std::move(file), true));
  } else {
    LOOKASIDE_ASSIGN_OR_RETURN(ConfigLayer preset, ReadPreset(kDefaultPreset));
    layers.push_back(std::move(preset));
  }
  LOOKASIDE_ASSIGN_OR_RETURN(LoadedConfig loaded, ApplyAll(layers));
  if (!request.cpu.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(ApplyCpu(request.cpu, loaded));
  }
  LOOKASIDE_RETURN_IF_ERROR(ApplySets(loaded, "--set", request.sets));
  LOOKASIDE_RETURN_IF_ERROR(Check(loaded));
  return loaded;
}

absl::StatusOr<LoadedConfig> LoadConfigText(std::string_view name,
                                            std::string_view text) {
  LOOKASIDE_ASSIGN_OR_RETURN(ConfigLayer top, ParseTomlLayer(name, text));
  LOOKASIDE_ASSIGN_OR_RETURN(const std::vector<ConfigLayer> layers,
                             WithBases(std::move(top), false));
  LOOKASIDE_ASSIGN_OR_RETURN(LoadedConfig loaded, ApplyAll(layers));
  LOOKASIDE_RETURN_IF_ERROR(Check(loaded));
  return loaded;
}

absl::Status ApplyAssignments(LoadedConfig& loaded, std::string_view option,
                              std::span<const std::string> assignments) {
  LoadedConfig changed = loaded;
  LOOKASIDE_RETURN_IF_ERROR(ApplySets(changed, option, assignments));
  LOOKASIDE_RETURN_IF_ERROR(Check(changed));
  loaded = std::move(changed);
  return absl::OkStatus();
}

absl::StatusOr<SimConfig> LoadPreset(std::string_view name) {
  LOOKASIDE_ASSIGN_OR_RETURN(const ConfigLayer preset, ReadPreset(name));
  LoadedConfig loaded;
  LOOKASIDE_RETURN_IF_ERROR(ApplyLayer(preset, loaded));
  LOOKASIDE_RETURN_IF_ERROR(Check(loaded));
  return std::move(loaded.config);
}

std::vector<PresetInfo> ListPresets() {
  std::vector<PresetInfo> presets;
  for (const std::string& name : PresetNames()) {
    absl::StatusOr<ConfigLayer> layer = ReadPreset(name);
    presets.push_back({name, layer.ok() ? layer->description : ""});
  }
  return presets;
}

}  // namespace lookaside
