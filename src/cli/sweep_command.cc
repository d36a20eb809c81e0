// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <span>
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
#include "lookaside/trace/trace_reader.h"
#include "lookaside/workload/open_source.h"

namespace lookaside {
namespace {

struct Swept {
  SweepTable table;
  HostInfo host;
};

using Readers = std::vector<std::unique_ptr<TraceReader>>;

absl::StatusOr<Readers> OpenAll(const Arguments& arguments) {
  Readers readers;
  for (const std::string& trace : arguments.traces) {
    LOOKASIDE_ASSIGN_OR_RETURN(
        std::unique_ptr<TraceReader> reader,
        OpenSource(trace, arguments.seed, arguments.reading));
    readers.push_back(std::move(reader));
  }
  return readers;
}

// One recording is read once for all points, unless its beginning is not to be
// counted.
bool IsReadOnce(const Readers& readers) {
  return readers.size() == 1 && readers[0]->streams() == nullptr &&
         readers[0]->info().setup_accesses == 0;
}

absl::Status CheckReadable(const Arguments& arguments, const Readers& readers) {
  const bool from_stdin =
      std::ranges::find(arguments.traces, "-") != arguments.traces.end();
  if (!from_stdin || IsReadOnce(readers)) return absl::OkStatus();
  return InvalidArgument(
      "standard input ('-') can be swept alone only: several traces are read "
      "anew for each point");
}

absl::StatusOr<Swept> Sweep(const LoadedConfig& loaded,
                            const std::vector<Vary>& varies,
                            const Arguments& arguments,
                            const Readers& readers) {
  Progress progress;
  const SweepOptions options{
      .seed = arguments.seed,
      .jobs = JobsOf(arguments),
      .progress = [&](uint64_t played) { progress.Update(played); }};
  // What is wrong with the points is not the trace's fault: only the run names
  // it.
  const auto run =
      [&](std::span<const SweepPoint> points) -> absl::StatusOr<SweepResult> {
    if (!IsReadOnce(readers)) {
      return RunSweep(points, [&] { return OpenAll(arguments); }, options);
    }
    absl::StatusOr<SweepResult> sweep = RunSweep(points, *readers[0], options);
    if (!sweep.ok()) return WithTraceName(sweep.status(), *readers[0]);
    return sweep;
  };
  LOOKASIDE_ASSIGN_OR_RETURN(Study study, RunStudy(loaded, varies, run));
  uint64_t accesses = 0;
  for (const RunResult& result : study.sweep.results) {
    accesses += result.totals.counters.accesses();
  }
  Swept swept;
  swept.host = MeasureHost(accesses, progress.seconds());
  swept.table = TableOf(std::move(study), varies);
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
  LOOKASIDE_ASSIGN_OR_RETURN(const Readers readers, OpenAll(arguments));
  LOOKASIDE_RETURN_IF_ERROR(CheckReadable(arguments, readers));
  LOOKASIDE_ASSIGN_OR_RETURN(const Swept swept,
                             Sweep(loaded, varies, arguments, readers));
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
