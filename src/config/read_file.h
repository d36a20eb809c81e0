// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_CONFIG_READ_FILE_H_
#define LOOKASIDE_CONFIG_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace lookaside {

// The whole of a configuration file; "-" is standard input. At most 1 MiB, so
// that a file that is none (a device, a trace) ends in an error.
absl::StatusOr<std::string> ReadConfigFile(const std::string& path);

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_READ_FILE_H_
