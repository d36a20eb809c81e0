// SPDX-License-Identifier: Apache-2.0
//
// A configuration that remembers where its values came from.
#ifndef LOOKASIDE_CONFIG_LOADED_CONFIG_H_
#define LOOKASIDE_CONFIG_LOADED_CONFIG_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lookaside/config/sim_config.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

// Where a value came from.
struct ConfigOrigin {
  std::string place;  // "preset skylake-sp", "my.toml:12", "--set"
  std::string note;   // the comment that follows the value there
  bool from_preset = false;
};

// An array that a layer took away.
struct RemovedArray {
  TlbConfig array;
  ConfigOrigin origin;  // of `entries` = 0
};

struct LoadedConfig {
  SimConfig config;
  std::string description;  // of the last layer that has one
  // By key, as Resolve() spells it. A key without one has its default.
  std::map<std::string, ConfigOrigin, std::less<>> origins;
  std::vector<RemovedArray> removed;  // in order
};

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_LOADED_CONFIG_H_
