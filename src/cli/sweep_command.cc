// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/output.h"
#include "lookaside/cli/progress.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/cli/sweep_table.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/report/host_info.h"
#include "lookaside/report/sweep_report.h"
#include "lookaside/sweep/study.h"
#include "lookaside/sweep/sweep.h"
#include "lookaside/sweep/vary.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

struct Swept {
  SweepTable table;
  HostInfo host;
};

absl::StatusOr<Swept> Sweep(const LoadedConfig& loaded,
                            const std::vector<Vary>& varies,
                            const Arguments& arguments, TraceReader& reader) {
  Progress progress;
  uint64_t accesses = 0;
  const SweepOptions options{.seed = arguments.seed,
                             .jobs = JobsOf(arguments),
                             .progress = [&](uint64_t played) {
                               accesses = played;
                               progress.Update(played);
                             }};
  absl::StatusOr<Study> study = RunStudy(loaded, varies, reader, options);
  if (!study.ok()) return WithTraceName(study.status(), reader);
  Swept swept;
  swept.host = MeasureHost(accesses * study->points.size(), progress.seconds());
  swept.table = TableOf(*std::move(study), varies);
  return swept;
}

}  // namespace

absl::Status RunSweepCommand(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(CheckResultFiles(arguments));
  std::vector<Vary> varies;
  for (const std::string& text : arguments.varies) {
    LOOKASIDE_ASSIGN_OR_RETURN(Vary vary, ParseVary(text));
    varies.push_back(std::move(vary));
  }
  LOOKASIDE_ASSIGN_OR_RETURN(const LoadedConfig loaded,
                             LoadConfig(arguments.config));
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                             OpenTrace(arguments.traces.front()));
  LOOKASIDE_ASSIGN_OR_RETURN(const Swept swept,
                             Sweep(loaded, varies, arguments, *reader));
  if (!arguments.json.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(
        WriteResultFile(arguments.json, SweepJson(swept.table, swept.host)));
  }
  if (!arguments.csv.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(
        WriteResultFile(arguments.csv, SweepCsv(swept.table)));
  }
  if (!TakesStandardOutput(arguments)) {
    LOOKASIDE_RETURN_IF_ERROR(WriteStandardOutput(
        SweepText(swept.table, MachineLine(arguments.config, loaded))));
  }
  for (const RunResult& result : swept.table.results) {
    LOOKASIDE_RETURN_IF_ERROR(ViolationsOf(result.checks));
  }
  return absl::OkStatus();
}

}  // namespace lookaside
