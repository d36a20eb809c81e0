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
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"
#include "lookaside/workload/open_source.h"

namespace lookaside {
namespace {

constexpr uint64_t kHeadBuffer = 4096;  // events

constexpr char kHeading[] =
    "   event  thread  kind    address             bytes\n";

// Numbers accesses and calls apart, as errors of a replay do.
class EventLines {
 public:
  std::string Next(std::span<const TraceEvent> events,
                   std::span<const MemoryCall> calls) {
    std::string text;
    for (const TraceEvent& event : events) {
      text += event.kind == EventKind::kCall
                  ? Line(event, calls[event.address.value()])
                  : Line(event);
    }
    return text;
  }

 private:
  std::string Line(const TraceEvent& event) {
    return fmt::format("{:>8}  {:>6}  {:<6}  {:#018x}  {:>5}\n", ++events_,
                       event.thread, Name(event.kind), event.address.value(),
                       event.size);
  }
  std::string Line(const TraceEvent& event, const MemoryCall& call) {
    return fmt::format("{:>8}  {:>6}  {}\n", fmt::format("call {}", ++calls_),
                       event.thread, ToString(call));
  }

  uint64_t events_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace

absl::Status RunTraceInfo(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(
      CheckResultFile("--json", arguments.json, arguments.traces));
  std::vector<TraceSummary> summaries;
  std::string text;
  for (const std::string& path : arguments.traces) {
    LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                               OpenSource(path, 0, arguments.reading));
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
  LOOKASIDE_ASSIGN_OR_RETURN(
      const std::unique_ptr<TraceReader> reader,
      OpenSource(arguments.traces.front(), 0, arguments.reading));
  std::vector<TraceEvent> buffer(kHeadBuffer);
  EventLines lines;
  bool first = true;
  for (uint64_t left = arguments.lines; left > 0;) {
    const size_t n =
        reader->Read(std::span(buffer).first(std::min(left, kHeadBuffer)));
    if (n == 0) break;
    if (first) {
      LOOKASIDE_RETURN_IF_ERROR(WriteStandardOutput(kHeading));
    }
    first = false;
    LOOKASIDE_RETURN_IF_ERROR(
        WriteStandardOutput(lines.Next({buffer.data(), n}, reader->calls())));
    left -= n;
  }
  return reader->status();
}

}  // namespace lookaside
