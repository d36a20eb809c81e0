// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/output.h"
#include "lookaside/cli/play.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/report/host_info.h"
#include "lookaside/report/result_csv.h"
#include "lookaside/report/result_json.h"
#include "lookaside/report/text_report.h"
#include "lookaside/trace/trace_reader.h"
#include "lookaside/workload/open_source.h"

namespace lookaside {
namespace {

// The report goes to standard output unless JSON or CSV do; files come first,
// so that a report on the terminal means that they are there.
absl::Status Output(const Replayed& replayed, const Arguments& arguments,
                    const std::string& report) {
  if (!arguments.json.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(WriteResultFile(
        arguments.json, ResultJson(replayed.result, replayed.host)));
  }
  if (!arguments.csv.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(
        WriteResultFile(arguments.csv, ResultsCsv({&replayed.result, 1})));
  }
  return TakesStandardOutput(arguments) ? absl::OkStatus()
                                        : WriteStandardOutput(report);
}

}  // namespace

absl::Status RunReplay(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(CheckResultFiles(arguments));
  LOOKASIDE_ASSIGN_OR_RETURN(const LoadedConfig loaded,
                             LoadConfig(arguments.config));
  std::vector<std::unique_ptr<TraceReader>> opened;
  std::vector<TraceReader*> readers;
  for (const std::string& trace : arguments.traces) {
    LOOKASIDE_ASSIGN_OR_RETURN(
        std::unique_ptr<TraceReader> reader,
        OpenSource(trace, arguments.seed, arguments.reading));
    readers.push_back(reader.get());
    opened.push_back(std::move(reader));
  }
  LOOKASIDE_ASSIGN_OR_RETURN(const Replayed replayed,
                             Play(loaded.config, arguments.seed, readers));
  LOOKASIDE_RETURN_IF_ERROR(Output(
      replayed, arguments,
      TextReport(replayed.result, MachineLine(arguments.config, loaded))));
  return ViolationsOf(replayed.result.checks);
}

}  // namespace lookaside
