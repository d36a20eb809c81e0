// SPDX-License-Identifier: Apache-2.0
//
// What is in a trace, without playing it: `lookaside trace info`.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto reader, OpenTrace(path));
//   LOOKASIDE_ASSIGN_OR_RETURN(TraceSummary summary, SummarizeTrace(*reader));
//   std::string text = TraceSummaryText(summary);
#ifndef LOOKASIDE_REPORT_TRACE_SUMMARY_H_
#define LOOKASIDE_REPORT_TRACE_SUMMARY_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct TraceSummary {
  TraceInfo info;
  std::array<uint64_t, kAccessKinds> by_kind{};  // events, by EventKind
  // Distinct 4 KiB pages that were touched.
  uint64_t instruction_pages = 0;
  uint64_t data_pages = 0;
};

// Reads the trace to its end; memory grows with the pages it touches. The
// errors are the reader's.
absl::StatusOr<TraceSummary> SummarizeTrace(TraceReader& reader);

// "1 blank line", "3 blank lines".
std::string SkippedText(const SkippedRecords& skipped);

// A few lines for a person.
std::string TraceSummaryText(const TraceSummary& summary);

// {schema_version, traces[]}; docs/result_json.md tells the keys.
std::string TraceSummariesJson(std::span<const TraceSummary> summaries);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_TRACE_SUMMARY_H_
