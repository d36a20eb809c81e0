// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_show.h"

#include <fmt/format.h>

#include <string_view>

#include "lookaside/base/printable.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_value.h"

namespace lookaside {
namespace {

std::string Source(const LoadedConfig& loaded, const std::string& key) {
  const auto it = loaded.origins.find(key);
  if (it == loaded.origins.end()) return "default: the simulator's own";
  const ConfigOrigin& origin = it->second;
  if (origin.note.empty()) return Printable(origin.place);
  if (origin.from_preset) return origin.note;
  return Printable(fmt::format("{}: {}", origin.place, origin.note));
}

}  // namespace

std::string ShowConfig(const LoadedConfig& loaded) {
  std::string text = "base = \"none\"  # every key is here\n";
  if (!loaded.description.empty()) {
    text += fmt::format("description = {}\n", Quote(loaded.description));
  }
  std::string_view table;
  const std::vector<ResolvedKey> keys = Resolve(loaded.config);
  for (const ResolvedKey& key : keys) {
    const std::string_view name = key.key;
    const size_t dot = name.rfind('.');
    if (name.substr(0, dot) != table) {
      table = name.substr(0, dot);
      text += fmt::format("\n[{}]\n", table);
    }
    text += fmt::format("{} = {}  # {}\n", name.substr(dot + 1),
                        ToToml(key.value), Source(loaded, key.key));
  }
  return text;
}

}  // namespace lookaside
