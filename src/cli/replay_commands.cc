// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/output.h"
#include "lookaside/cli/progress.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/report/host_info.h"
#include "lookaside/report/result_csv.h"
#include "lookaside/report/result_json.h"
#include "lookaside/report/text_report.h"
#include "lookaside/report/wrap_text.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

// A two-socket server whose TLBs are known best.
constexpr char kDemoPreset[] = "skylake-sp";

struct Replayed {
  RunResult result;
  HostInfo host;
};

absl::StatusOr<Replayed> Play(const SimConfig& config, uint64_t seed,
                              TraceReader& reader) {
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<Simulation> simulation,
                             Simulation::Create(config, seed));
  Progress progress;
  const ReplayOptions options = {
      .progress = [&progress](uint64_t, uint64_t accesses) {
        progress.Update(accesses);
      }};
  absl::StatusOr<RunResult> result = Replay(*simulation, reader, options);
  if (!result.ok()) return WithTraceName(result.status(), reader);
  Replayed replayed{*std::move(result), {}};
  uint64_t accesses = 0;
  for (const TraceInfo& trace : replayed.result.traces) {
    accesses += trace.accesses;
  }
  replayed.host = MeasureHost(accesses, progress.seconds());
  return replayed;
}

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

std::string DemoText() {
  return "\n" +
         WrapText("",
                  "This is what address translation cost the recorded program "
                  "on that machine: which TLB arrays its accesses missed, how "
                  "many page-table loads the walks made and where these found "
                  "their lines, and the cycles of each kind.") +
         WrapText("",
                  "Next, replay a recording of your own on another processor "
                  "('lookaside replay --help' shows how to make one), or list "
                  "the processors with 'lookaside config list'.");
}

}  // namespace

absl::Status RunReplay(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(CheckResultFiles(arguments));
  LOOKASIDE_ASSIGN_OR_RETURN(const LoadedConfig loaded,
                             LoadConfig(arguments.config));
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                             OpenTrace(arguments.traces.front()));
  LOOKASIDE_ASSIGN_OR_RETURN(const Replayed replayed,
                             Play(loaded.config, arguments.seed, *reader));
  return Output(
      replayed, arguments,
      TextReport(replayed.result, MachineLine(arguments.config, loaded)));
}

absl::Status RunDemo(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(CheckResultFiles(arguments));
  const ConfigRequest request{.file = "", .cpu = kDemoPreset, .sets = {}};
  LOOKASIDE_ASSIGN_OR_RETURN(const LoadedConfig loaded, LoadConfig(request));
  const EmbeddedFile& recording = DemoRecording().front();
  LOOKASIDE_ASSIGN_OR_RETURN(
      const std::unique_ptr<TraceReader> reader,
      OpenTraceFromMemory(std::string(recording.name), recording.contents));
  LOOKASIDE_ASSIGN_OR_RETURN(const Replayed replayed,
                             Play(loaded.config, 0, *reader));
  return Output(
      replayed, arguments,
      TextReport(replayed.result, MachineLine(request, loaded)) + DemoText());
}

}  // namespace lookaside
