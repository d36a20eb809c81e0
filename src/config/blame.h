// SPDX-License-Identifier: Apache-2.0
//
// Which of the user's settings an error of Validate() is due to.
#ifndef LOOKASIDE_CONFIG_BLAME_H_
#define LOOKASIDE_CONFIG_BLAME_H_

#include "absl/status/status.h"
#include "lookaside/config/loaded_config.h"

namespace lookaside {

// `status` behind the place of the setting that it is due to. Where the user
// did not set the key that it begins with, one that he did set comes first:
// "--set walk.l1_lines = 10: walk.l1_ways = 0: ...". Without any such setting,
// the preset of the key.
absl::Status BlameSetting(const LoadedConfig& loaded,
                          const absl::Status& status);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_BLAME_H_
