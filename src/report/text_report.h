// SPDX-License-Identifier: Apache-2.0
//
// A result for a person's first look. Everything in it is in the result JSON
// too (report/result_json.h), or is a quotient of what is there. Plain text,
// at most 100 columns for counts below 10^12; no colours.
#ifndef LOOKASIDE_REPORT_TEXT_REPORT_H_
#define LOOKASIDE_REPORT_TEXT_REPORT_H_

#include <string>
#include <string_view>

#include "lookaside/replay/run_result.h"

namespace lookaside {

// `machine` says in one line what was simulated: "skylake-sp: two sockets".
std::string TextReport(const RunResult& result, std::string_view machine);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_TEXT_REPORT_H_
