// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_CONFIG_CONFIG_DOC_H_
#define LOOKASIDE_CONFIG_CONFIG_DOC_H_

#include <string>

namespace lookaside {

// docs/configuration.md, from the table of keys and the default preset.
std::string ConfigurationDoc();

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_CONFIG_DOC_H_
