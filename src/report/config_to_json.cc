// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/config_to_json.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "lookaside/base/permille.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_value.h"

namespace lookaside {
namespace {

struct ValueToJson {
  Json operator()(Permille fraction) const {
    return static_cast<double>(fraction.thousandths()) / Permille::kOne;
  }
  template <typename T>
  Json operator()(const T& value) const {
    return value;
  }
};

// The place of a dotted key, made where it is missing.
Json& At(Json& root, std::string_view key) {
  Json* place = &root;
  while (true) {
    const size_t dot = key.find('.');
    place = &(*place)[std::string(key.substr(0, dot))];
    if (dot == std::string_view::npos) return *place;
    key.remove_prefix(dot + 1);
  }
}

}  // namespace

Json ConfigToJson(const SimConfig& config) {
  Json json = Json::object();
  for (const ResolvedKey& key : Resolve(config)) {
    At(json, key.key) = std::visit(ValueToJson(), key.value);
  }
  return json;
}

}  // namespace lookaside
