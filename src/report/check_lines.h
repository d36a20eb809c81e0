// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_REPORT_CHECK_LINES_H_
#define LOOKASIDE_REPORT_CHECK_LINES_H_

#include <string>

#include "lookaside/machine/check_counters.h"

namespace lookaside {

// What the safety checks found, for people: one line where all is well; else
// the violations by property, and the first of them one by one.
std::string CheckLines(const CheckCounters& checks);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_CHECK_LINES_H_
