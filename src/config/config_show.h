// SPDX-License-Identifier: Apache-2.0
//
// The resolved configuration as a file.
#ifndef LOOKASIDE_CONFIG_CONFIG_SHOW_H_
#define LOOKASIDE_CONFIG_CONFIG_SHOW_H_

#include <string>

#include "lookaside/config/loaded_config.h"

namespace lookaside {

// TOML that loads back to an equal SimConfig (it inherits nothing). Behind
// every value stands where it came from: the source that the preset cites, the
// line of the user's file, or "default: ...".
std::string ShowConfig(const LoadedConfig& loaded);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_CONFIG_SHOW_H_
