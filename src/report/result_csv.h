// SPDX-License-Identifier: Apache-2.0
//
// Results as CSV (RFC 4180, lines end with "\n"): one line of names, then one
// line for each result, with what its JSON has under `totals`. Names are the
// JSON's, joined by dots: "totals.tlb.stlb.misses". Several results have the
// columns of any of them; one that lacks a column leaves it empty.
#ifndef LOOKASIDE_REPORT_RESULT_CSV_H_
#define LOOKASIDE_REPORT_RESULT_CSV_H_

#include <span>
#include <string>
#include <vector>

#include "lookaside/replay/run_result.h"

namespace lookaside {

// Leading columns of the caller's, beside the results.
struct CsvColumns {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;  // one for each result
};

// REQUIRES: columns.rows has as many rows as `results`, or is empty.
std::string ResultsCsv(std::span<const RunResult> results,
                       const CsvColumns& columns = {});

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_RESULT_CSV_H_
