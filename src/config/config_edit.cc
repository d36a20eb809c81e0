// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_edit.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "lookaside/base/digest.h"
#include "lookaside/base/status.h"
#include "lookaside/config/config_key.h"
#include "lookaside/config/config_layer.h"

namespace lookaside {
namespace {

void ResolveArrays(const SimConfig& config, std::vector<ResolvedKey>& keys) {
  for (const TlbConfig& array : config.tlb.arrays) {
    for (const Key<TlbConfig>& key : ArrayKeys()) {
      if (std::optional<ConfigValue> value = key.get(array)) {
        keys.push_back({fmt::format("tlb.{}.{}", array.name, key.shape.name),
                        *std::move(value)});
      }
    }
  }
}

}  // namespace

absl::Status Set(SimConfig& config, std::string_view key,
                 std::string_view value) {
  ConfigLayer layer;
  layer.assignments.push_back(
      {std::string(key), ParseRawValue(value), ConfigOrigin()});
  LoadedConfig loaded{config, "", {}, {}};
  LOOKASIDE_RETURN_IF_ERROR(ApplyLayer(layer, loaded));
  config = std::move(loaded.config);
  return absl::OkStatus();
}

std::vector<ResolvedKey> Resolve(const SimConfig& config) {
  std::vector<ResolvedKey> keys;
  for (const Key<SimConfig>& key : SimKeys()) {
    if (std::optional<ConfigValue> value = key.get(config)) {
      keys.push_back({key.shape.name, *std::move(value)});
    }
    if (key.shape.name == "tlb.inclusion") ResolveArrays(config, keys);
  }
  return keys;
}

std::string ConfigHash(const SimConfig& config) {
  Digest digest;
  for (const ResolvedKey& key : Resolve(config)) {
    const std::string line =
        fmt::format("{} = {}\n", key.key, ToToml(key.value));
    digest.AddBytes(line.data(), line.size());
  }
  return digest.Finish().ToString();
}

}  // namespace lookaside
