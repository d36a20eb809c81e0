// SPDX-License-Identifier: Apache-2.0
//
// From what a sweep found to the table that is reported.
#ifndef LOOKASIDE_CLI_SWEEP_TABLE_H_
#define LOOKASIDE_CLI_SWEEP_TABLE_H_

#include <span>

#include "lookaside/report/sweep_report.h"
#include "lookaside/sweep/study.h"
#include "lookaside/sweep/vary.h"

namespace lookaside {

SweepTable TableOf(Study study, std::span<const Vary> varies);

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_SWEEP_TABLE_H_
