// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_layer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/config/nearest.h"

namespace lookaside {
namespace {

std::vector<std::string> KnownKeys(const SimConfig& config) {
  std::vector<std::string> keys;
  for (const auto& key : SimKeys()) keys.push_back(key.shape.name);
  for (const TlbConfig& array : config.tlb.arrays) {
    for (const auto& key : ArrayKeys()) {
      keys.push_back(fmt::format("tlb.{}.{}", array.name, key.shape.name));
    }
  }
  return keys;
}

bool IsTable(std::string_view name) {
  if (name == "tlb") return true;
  const std::string prefix = fmt::format("{}.", name);
  return std::ranges::any_of(SimKeys(), [&](const auto& key) {
    return key.shape.name.starts_with(prefix);
  });
}

// The array that `key` or, when it has no value, the table `key` is of.
std::string_view ArrayPart(std::string_view key, bool has_value) {
  if (!key.starts_with("tlb.")) return "";
  key.remove_prefix(4);
  const size_t dot = key.find('.');
  return dot == std::string_view::npos && has_value ? "" : key.substr(0, dot);
}

std::string ValueText(const Assignment& assignment) {
  return assignment.value ? assignment.value->text : "{}";
}

// Lays the assignments of one layer over a configuration, one by one, then
// settles what several of them decide together.
class LayerApplier {
 public:
  LayerApplier(const ConfigLayer& layer, LoadedConfig& loaded)
      : layer_(layer), loaded_(loaded) {}

  absl::Status Apply() {
    for (const Assignment& assignment : layer_.assignments) {
      LOOKASIDE_RETURN_IF_ERROR(
          Locate(assignment.origin.place, ApplyOne(assignment)));
    }
    for (const auto& [name, change] : changes_) {
      LOOKASIDE_RETURN_IF_ERROR(Settle(name, change));
    }
    return absl::OkStatus();
  }

 private:
  // What this layer does to one array.
  struct Change {
    bool created = false;
    bool was_fully_associative = false;
    std::set<std::string, std::less<>> fields;  // that the layer gives
    ConfigOrigin origin;                        // of the first of them
  };

  absl::Status ApplyOne(const Assignment& assignment) {
    const std::string& key = assignment.key;
    LOOKASIDE_RETURN_IF_ERROR(CheckArrayName(assignment));
    if (const Key<SimConfig>* sim_key = FindSimKey(key)) {
      return ApplySimKey(*sim_key, assignment);
    }
    if (const auto parts = SplitArrayKey(key)) {
      return ApplyArrayKey(*parts, assignment);
    }
    if (IsTable(key)) {
      if (!assignment.value) return absl::OkStatus();
      return InvalidArgument("{} = {}: expected a table of keys", key,
                             assignment.value->text);
    }
    return UnknownKey(assignment);
  }

  // That `tlb.<name>...` has a name that an array can have.
  absl::Status CheckArrayName(const Assignment& assignment) const {
    const std::string& key = assignment.key;
    const std::string_view name = ArrayPart(key, assignment.value.has_value());
    if (name.empty()) return absl::OkStatus();
    const std::string table = fmt::format("tlb.{}", name);
    if (FindSimKey(table) != nullptr) {
      return InvalidArgument(
          "{}: no array can have this name, which is a key of its own", table);
    }
    if (SplitArrayKey(fmt::format("{}.", table))) return absl::OkStatus();
    return InvalidArgument(
        "{} = {}: the name of an array is at most 40 lower-case letters, "
        "digits and _",
        Excerpt(key), ValueText(assignment));
  }

  // What to do about a name that is not known.
  std::string Advice(const Assignment& assignment) const {
    const std::string meant =
        Suggest(assignment.key, KnownKeys(loaded_.config));
    return meant.empty() ? "'lookaside config show' lists all"
                         : fmt::format("did you mean '{}'?", meant);
  }

  absl::Status UnknownKey(const Assignment& assignment) const {
    const std::string key = Excerpt(assignment.key);
    const std::string value = ValueText(assignment);
    if (key == "base") {
      return InvalidArgument("{} = {}: only a file has one; use --cpu", key,
                             value);
    }
    if (key == "description") {
      return InvalidArgument("{} = {}: only a file has one", key, value);
    }
    return InvalidArgument("{} = {}: unknown key; {}", key, value,
                           Advice(assignment));
  }

  absl::Status ApplySimKey(const Key<SimConfig>& key,
                           const Assignment& assignment) {
    const std::string& name = assignment.key;
    if (!assignment.value) {
      return InvalidArgument("{} = {{}}: expected {}", name,
                             Allowed(key.shape));
    }
    const std::string other = OtherUnit(name);
    if (layer_.is_file && !other.empty() && given_.contains(other)) {
      return InvalidArgument("{} = {}: {} is given too; one unit is enough",
                             name, assignment.value->text, other);
    }
    LOOKASIDE_ASSIGN_OR_RETURN(
        const ConfigValue value,
        ConvertValue(name, key.shape, *assignment.value));
    key.set(loaded_.config, value);
    given_.insert(name);
    loaded_.origins.erase(other);
    loaded_.origins.insert_or_assign(name, assignment.origin);
    return absl::OkStatus();
  }

  absl::Status ApplyArrayKey(const ArrayKeyName& parts,
                             const Assignment& assignment) {
    const Key<TlbConfig>* const key = FindArrayKey(parts.field);
    if (key == nullptr) return UnknownKey(assignment);
    TlbConfig* array = FindArray(parts.array);
    if (array == nullptr && !layer_.is_file) return NoSuchArray(assignment);
    if (!assignment.value) {
      return InvalidArgument("{} = {{}}: expected {}", assignment.key,
                             Allowed(key->shape));
    }
    LOOKASIDE_ASSIGN_OR_RETURN(
        const ConfigValue value,
        ConvertValue(assignment.key, key->shape, *assignment.value));
    Change& change = ChangeOf(parts.array, array, assignment.origin);
    if (array == nullptr) array = FindArray(parts.array);
    change.fields.emplace(parts.field);
    key->set(*array, value);
    loaded_.origins.insert_or_assign(assignment.key, assignment.origin);
    return absl::OkStatus();
  }

  absl::Status NoSuchArray(const Assignment& assignment) const {
    return InvalidArgument(
        "{} = {}: there is no such array, and only a file can add one; {}",
        assignment.key, ValueText(assignment), Advice(assignment));
  }

  // The record of what the layer does to the array, which it adds if `array`
  // is null.
  Change& ChangeOf(std::string_view name, const TlbConfig* array,
                   const ConfigOrigin& origin) {
    const auto [it, inserted] = changes_.try_emplace(std::string(name));
    if (!inserted) return it->second;
    it->second.origin = origin;
    if (array != nullptr) {
      it->second.was_fully_associative = array->entries == array->ways;
    } else {
      it->second.created = true;
      loaded_.config.tlb.arrays.emplace_back().name = name;
    }
    return it->second;
  }

  // A layer is settled when all its assignments are known: their order does
  // not matter.
  absl::Status Settle(const std::string& name, const Change& change) {
    TlbConfig& array = *FindArray(name);
    if (change.created) {
      LOOKASIDE_RETURN_IF_ERROR(
          Locate(change.origin.place, CheckNewArray(name, change)));
    }
    if (array.entries == 0 && change.fields.contains("entries")) {
      if (!change.created) {
        loaded_.removed.push_back(
            {array, loaded_.origins[fmt::format("tlb.{}.entries", name)]});
      }
      RemoveArray(name);
      return absl::OkStatus();
    }
    if (change.was_fully_associative && change.fields.contains("entries") &&
        !change.fields.contains("ways")) {
      array.ways = array.entries;
      const std::string entries = fmt::format("tlb.{}.entries", name);
      loaded_.origins.insert_or_assign(
          fmt::format("tlb.{}.ways", name),
          ConfigOrigin{loaded_.origins[entries].place,
                       "still fully associative", false});
    }
    return absl::OkStatus();
  }

  absl::Status CheckNewArray(const std::string& name, const Change& change) {
    std::vector<std::string> missing;
    for (const auto& key : ArrayKeys()) {
      if (key.shape.required && !change.fields.contains(key.shape.name)) {
        missing.push_back(key.shape.name);
      }
    }
    if (missing.empty()) return absl::OkStatus();
    if (change.fields.contains("entries") && FindArray(name)->entries == 0) {
      return InvalidArgument(
          "tlb.{}.entries = 0: there is no such array to remove, but {}", name,
          OtherArrays(name));
    }
    return InvalidArgument(
        "tlb.{}: there is no such array, but {}; a new one lacks {}", name,
        OtherArrays(name), fmt::format("{}", fmt::join(missing, ", ")));
  }

  std::string OtherArrays(std::string_view name) const {
    constexpr size_t kMost = 16;
    std::vector<std::string_view> names;
    for (const TlbConfig& array : loaded_.config.tlb.arrays) {
      if (array.name == name) continue;
      const std::string_view shown = array.name;
      names.push_back(names.size() < kMost ? shown : "...");
      if (names.size() > kMost) break;
    }
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  }

  TlbConfig* FindArray(std::string_view name) {
    for (TlbConfig& array : loaded_.config.tlb.arrays) {
      if (array.name == name) return &array;
    }
    return nullptr;
  }

  void RemoveArray(const std::string& name) {
    std::erase_if(loaded_.config.tlb.arrays,
                  [&](const TlbConfig& array) { return array.name == name; });
    const std::string prefix = fmt::format("tlb.{}.", name);
    std::erase_if(loaded_.origins, [&](const auto& origin) {
      return origin.first.starts_with(prefix);
    });
  }

  const ConfigLayer& layer_;
  LoadedConfig& loaded_;
  std::set<std::string, std::less<>> given_;
  std::map<std::string, Change, std::less<>> changes_;
};

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

absl::Status Locate(std::string_view place, const absl::Status& status) {
  if (status.ok() || place.empty()) return status;
  const std::string_view separator = place.starts_with('-') ? " " : ": ";
  return absl::Status(status.code(),
                      fmt::format("{}{}{}", place, separator, Message(status)));
}

absl::StatusOr<Assignment> ParseAssignment(std::string_view option,
                                           std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Locate(option,
                  InvalidArgument("{}: expected KEY=VALUE", Excerpt(text)));
  }
  Assignment assignment;
  assignment.key = Trim(text.substr(0, equals));
  assignment.value = ParseRawValue(Trim(text.substr(equals + 1)));
  assignment.origin.place = option;
  return assignment;
}

absl::Status ApplyLayer(const ConfigLayer& layer, LoadedConfig& loaded) {
  if (!layer.description.empty()) loaded.description = layer.description;
  return LayerApplier(layer, loaded).Apply();
}

}  // namespace lookaside
