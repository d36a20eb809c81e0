// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_REPORT_CONFIG_TO_JSON_H_
#define LOOKASIDE_REPORT_CONFIG_TO_JSON_H_

#include "lookaside/config/sim_config.h"
#include "lookaside/report/json_text.h"

namespace lookaside {

// The resolved configuration as nested objects: "tlb.stlb.entries" is
// config["tlb"]["stlb"]["entries"].
Json ConfigToJson(const SimConfig& config);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_CONFIG_TO_JSON_H_
