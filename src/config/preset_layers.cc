// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/preset_layers.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/config/nearest.h"
#include "lookaside/config/raw_value.h"
#include "lookaside/config/read_file.h"
#include "lookaside/presets/presets.h"

namespace lookaside {
namespace {

constexpr std::string_view kNoBase = "none";
constexpr std::string_view kSuffix = ".toml";

// The longest that is shown whole when it cannot be read.
constexpr size_t kLongestBase = 255;

const EmbeddedFile* FindPreset(std::string_view name) {
  for (const EmbeddedFile& file : Presets()) {
    if (file.name == fmt::format("{}{}", name, kSuffix)) return &file;
  }
  return nullptr;
}

// Whether `base` names a file rather than a preset.
bool IsPath(std::string_view base) { return base.ends_with(kSuffix); }

// In one spelling.
std::string NormalPath(const std::filesystem::path& path) {
  return path.lexically_normal().string();
}

// Whether both are the same file, under whatever names.
bool SameFile(const ConfigLayer& a, const ConfigLayer& b) {
  const auto canonical = [](const ConfigLayer& layer) {
    std::error_code error;
    const auto path = std::filesystem::canonical(layer.name, error);
    return error ? std::filesystem::path(layer.name) : path;
  };
  return !a.is_preset && !b.is_preset && canonical(a) == canonical(b);
}

// That `base`, the base of the last of `chain`, may be added to it.
absl::Status CheckBase(const std::vector<ConfigLayer>& chain,
                       const ConfigLayer& base) {
  constexpr size_t kMostFiles = 16;
  if (base.is_preset) return absl::OkStatus();
  const std::string& text = chain.back().base->value->text;
  if (std::ranges::any_of(
          chain, [&](const auto& layer) { return SameFile(layer, base); })) {
    return InvalidArgument(
        "base = {}: the file inherits from itself in the end", text);
  }
  if (chain.size() < kMostFiles) return absl::OkStatus();
  return InvalidArgument(
      "base = {}: more than {} files inherit from one another", text,
      kMostFiles);
}

absl::StatusOr<ConfigLayer> ReadBaseFile(const ConfigLayer& child,
                                         const std::string& base) {
  const std::filesystem::path directory =
      std::filesystem::path(child.name).parent_path();
  absl::StatusOr<ConfigLayer> layer =
      ReadFileLayer(NormalPath(directory / base));
  // What is wrong within the file is told with the file's own name.
  if (layer.ok() || !absl::IsNotFound(layer.status())) return layer;
  if (base.size() > kLongestBase) {
    return InvalidArgument("base = {}: cannot be read", Excerpt(base));
  }
  return InvalidArgument("base = {}", Message(layer.status()));
}

absl::StatusOr<ConfigLayer> ReadBasePreset(const std::string& base) {
  absl::StatusOr<ConfigLayer> layer = ReadPreset(base);
  if (layer.ok()) return layer;
  return InvalidArgument("base = {}", Message(layer.status()));
}

// The layer that `child` inherits from, if any.
absl::StatusOr<std::optional<ConfigLayer>> ReadBase(const ConfigLayer& child,
                                                    bool files_allowed) {
  if (!child.base) {
    LOOKASIDE_ASSIGN_OR_RETURN(ConfigLayer layer, ReadPreset(kDefaultPreset));
    return layer;
  }
  const std::string& base = std::get<std::string>(child.base->value->value);
  if (base == kNoBase) return std::nullopt;
  absl::StatusOr<ConfigLayer> layer = files_allowed && IsPath(base)
                                          ? ReadBaseFile(child, base)
                                          : ReadBasePreset(base);
  if (layer.ok()) return *std::move(layer);
  if (!Message(layer.status()).starts_with("base = ")) return layer.status();
  return Locate(child.base->origin.place, layer.status());
}

std::string DidYouMean(std::string_view name) {
  return name.empty() ? "" : fmt::format("did you mean '{}'? ", name);
}

}  // namespace

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : Presets()) {
    names.emplace_back(file.name.substr(0, file.name.size() - kSuffix.size()));
  }
  return names;
}

absl::StatusOr<ConfigLayer> ReadPreset(std::string_view name) {
  const EmbeddedFile* const preset = FindPreset(name);
  if (preset == nullptr) {
    return InvalidArgument(
        "{}: unknown preset; {}'lookaside config list' lists all",
        Excerpt(name), DidYouMean(Suggest(name, PresetNames())));
  }
  const std::string place = fmt::format("preset {}", name);
  LOOKASIDE_ASSIGN_OR_RETURN(ConfigLayer layer,
                             ParseTomlLayer(place, preset->contents));
  // Where in the preset is nobody's concern; what it cites there is.
  for (Assignment& assignment : layer.assignments) {
    assignment.origin.place = place;
    assignment.origin.from_preset = true;
  }
  layer.is_preset = true;
  return layer;
}

absl::StatusOr<ConfigLayer> ReadFileLayer(const std::string& path) {
  LOOKASIDE_ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(path));
  return ParseTomlLayer(path == "-" ? "standard input" : NormalPath(path),
                        text);
}

absl::StatusOr<std::vector<ConfigLayer>> WithBases(ConfigLayer top,
                                                   bool files_allowed) {
  std::vector<ConfigLayer> chain;
  chain.push_back(std::move(top));
  while (!chain.back().is_preset) {
    const ConfigLayer& child = chain.back();
    LOOKASIDE_ASSIGN_OR_RETURN(std::optional<ConfigLayer> base,
                               ReadBase(child, files_allowed));
    if (!base) break;
    const absl::Status fits = CheckBase(chain, *base);
    if (!fits.ok()) return Locate(child.base->origin.place, fits);
    chain.push_back(*std::move(base));
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace lookaside
