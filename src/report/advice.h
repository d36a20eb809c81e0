// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_REPORT_ADVICE_H_
#define LOOKASIDE_REPORT_ADVICE_H_

#include <string>
#include <vector>

#include "lookaside/replay/run_result.h"

namespace lookaside {

// What a reader of the result should know before trusting a figure: what was
// seen, why it matters, and what to do about it. One entry each.
std::vector<std::string> Advice(const RunResult& result);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_ADVICE_H_
