// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/blame.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "lookaside/base/status.h"
#include "lookaside/config/config_key.h"
#include "lookaside/config/config_layer.h"
#include "lookaside/config/config_value.h"

namespace lookaside {
namespace {

// Whether `text` has `name` as a whole word.
bool Names(std::string_view text, std::string_view name) {
  constexpr std::string_view kWord = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end == text.size() || kWord.find(text[end]) == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

struct Setting {
  std::string key;
  std::string place;
};

// The first of the user's own settings that `suits`.
template <typename Predicate>
std::optional<Setting> FindSetting(const LoadedConfig& loaded,
                                   const Predicate& suits) {
  for (const auto& [key, origin] : loaded.origins) {
    if (!origin.from_preset && suits(key)) return Setting{key, origin.place};
  }
  return std::nullopt;
}

const TlbConfig* FindArray(const SimConfig& config, std::string_view name) {
  for (const TlbConfig& array : config.tlb.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

std::string ValueOf(const SimConfig& config, std::string_view key) {
  std::optional<ConfigValue> value;
  if (const auto* const sim_key = FindSimKey(key)) {
    value = sim_key->get(config);
  } else if (const auto parts = SplitArrayKey(key)) {
    const TlbConfig* const array = FindArray(config, parts->array);
    // One that was removed.
    value = array ? FindArrayKey(parts->field)->get(*array) : uint64_t{0};
  }
  return value ? ToToml(*value) : "";
}

// "no tlb.<name> of level 1 and side ...": what took the last one away.
std::optional<Setting> FindLackOfArray(const LoadedConfig& loaded,
                                       TlbSide side) {
  const auto was_there = [side](const TlbConfig& array) {
    return array.level == 1 &&
           (array.side == side || array.side == TlbSide::kUnified);
  };
  for (const auto& [array, origin] : loaded.removed) {
    if (was_there(array) && !origin.from_preset) {
      return Setting{fmt::format("tlb.{}.entries", array.name), origin.place};
    }
  }
  return FindSetting(loaded, [&](std::string_view key) {
    const auto parts = SplitArrayKey(key);
    if (!parts) return false;
    if (parts->field == "level" || parts->field == "side") return true;
    const TlbConfig* const array = FindArray(loaded.config, parts->array);
    return parts->field == "pages" && array != nullptr && was_there(*array);
  });
}

// One that shapes what the message is about, though it does not name it.
std::optional<Setting> FindRelated(const LoadedConfig& loaded,
                                   std::string_view message) {
  if (message.starts_with("no tlb.")) {
    const bool inst = message.find("\"inst\"") != std::string_view::npos;
    return FindLackOfArray(loaded, inst ? TlbSide::kInst : TlbSide::kData);
  }
  const auto of_array = FindSetting(loaded, [&](std::string_view key) {
    const auto parts = SplitArrayKey(key);
    return parts && Names(message, fmt::format("tlb.{}", parts->array));
  });
  if (of_array) return of_array;
  if (message.find("thread") == std::string_view::npos &&
      !message.starts_with("machine")) {
    return std::nullopt;
  }
  return FindSetting(loaded, [](std::string_view key) {
    return key == "machine.sockets" || key == "machine.cores_per_socket" ||
           key == "machine.threads_per_core";
  });
}

std::string PlaceOfPreset(const LoadedConfig& loaded,
                          std::string_view message) {
  for (const auto& [key, origin] : loaded.origins) {
    if (Names(message, key)) return origin.place;
  }
  return "";
}

}  // namespace

absl::Status BlameSetting(const LoadedConfig& loaded,
                          const absl::Status& status) {
  if (status.ok()) return status;
  const std::string message(Message(status));
  const std::string subject = message.substr(0, message.find_first_of(" :"));
  const auto its_own =
      FindSetting(loaded, [&](std::string_view key) { return key == subject; });
  if (its_own) return Locate(its_own->place, status);
  auto other = FindSetting(
      loaded, [&](std::string_view key) { return Names(message, key); });
  if (!other) other = FindRelated(loaded, message);
  if (!other) return Locate(PlaceOfPreset(loaded, message), status);
  return Locate(other->place,
                InvalidArgument("{} = {}: {}", other->key,
                                ValueOf(loaded.config, other->key), message));
}

}  // namespace lookaside
