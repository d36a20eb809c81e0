// SPDX-License-Identifier: Apache-2.0
//
// Results as JSON, the form that everything else is derived from;
// docs/result_json.md tells every key. Two spaces of indentation, a newline
// at the end, keys in a fixed order; integers everywhere but in `host` and
// for fractions in `config`.
//
//   std::string json = ResultJson(result, MeasureHost(accesses, seconds));
#ifndef LOOKASIDE_REPORT_RESULT_JSON_H_
#define LOOKASIDE_REPORT_RESULT_JSON_H_

#include <string>

#include "lookaside/config/sim_config.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/report/host_info.h"

namespace lookaside {

// Changes when a key changes its meaning, not when one is added.
inline constexpr int kSchemaVersion = 1;

std::string ResultJson(const RunResult& result, const HostInfo& host);

// {schema_version, config, config_hash}.
std::string ConfigJson(const SimConfig& config);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_RESULT_JSON_H_
