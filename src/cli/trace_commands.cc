// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/report/trace_summary.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {
namespace {

constexpr uint64_t kHeadBuffer = 4096;  // events

std::string EventLines(std::span<const TraceEvent> events) {
  std::string text;
  for (const TraceEvent& event : events) {
    fmt::format_to(std::back_inserter(text), "{:>6}  {:<6}  {:#018x}  {:>5}\n",
                   event.thread, Name(event.kind), event.address.value(),
                   event.size);
  }
  return text;
}

}  // namespace

absl::Status RunTraceInfo(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(CheckResultFile(arguments.json, arguments.traces));
  std::vector<TraceSummary> summaries;
  std::string text;
  for (const std::string& path : arguments.traces) {
    LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                               OpenTrace(path));
    LOOKASIDE_ASSIGN_OR_RETURN(TraceSummary summary, SummarizeTrace(*reader));
    text += (text.empty() ? "" : "\n") + TraceSummaryText(summary);
    summaries.push_back(std::move(summary));
  }
  if (!arguments.json.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(
        WriteResultFile(arguments.json, TraceSummariesJson(summaries)));
  }
  return arguments.json == "-" ? absl::OkStatus() : WriteStandardOutput(text);
}

absl::Status RunTraceHead(const Arguments& arguments) {
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                             OpenTrace(arguments.traces.front()));
  std::vector<TraceEvent> buffer(kHeadBuffer);
  bool first = true;
  for (uint64_t left = arguments.lines; left > 0;) {
    const size_t n =
        reader->Read(std::span(buffer).first(std::min(left, kHeadBuffer)));
    if (n == 0) break;
    if (first) {
      LOOKASIDE_RETURN_IF_ERROR(
          WriteStandardOutput("thread  kind    address             bytes\n"));
    }
    first = false;
    LOOKASIDE_RETURN_IF_ERROR(
        WriteStandardOutput(EventLines({buffer.data(), n})));
    left -= n;
  }
  return reader->status();
}

}  // namespace lookaside
