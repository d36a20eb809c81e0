// SPDX-License-Identifier: Apache-2.0
//
// A result as the JSON object that reports are made from.
#ifndef LOOKASIDE_REPORT_RESULT_TO_JSON_H_
#define LOOKASIDE_REPORT_RESULT_TO_JSON_H_

#include "lookaside/replay/run_result.h"
#include "lookaside/report/host_info.h"
#include "lookaside/report/json_text.h"

namespace lookaside {

// Everything but `host`.
Json ResultToJson(const RunResult& result);

Json HostToJson(const HostInfo& host);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_RESULT_TO_JSON_H_
