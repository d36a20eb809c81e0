// SPDX-License-Identifier: Apache-2.0
//
// What the product is for, on a recording that is part of the command: one
// replay, then the flush threshold swept over it.
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/output.h"
#include "lookaside/cli/play.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/cli/sweep_table.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/report/format_number.h"
#include "lookaside/report/result_json.h"
#include "lookaside/report/sweep_report.h"
#include "lookaside/report/text_report.h"
#include "lookaside/report/wrap_text.h"
#include "lookaside/sweep/study.h"
#include "lookaside/sweep/sweep.h"
#include "lookaside/sweep/vary.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

// A two-socket server whose TLBs are known best.
constexpr char kDemoPreset[] = "skylake-sp";
// From "every flush is full" to more pages than any flush here has; 33 is
// what Linux chose in 2014.
constexpr char kDemoVary[] = "kernel.flush.ceiling=0,1,2,4,8,16,33,64,512";
constexpr size_t kLinuxPoint = 6;

absl::StatusOr<std::unique_ptr<TraceReader>> OpenDemo() {
  const EmbeddedFile& recording = DemoRecording().front();
  return OpenTraceFromMemory(std::string(recording.name), recording.contents);
}

absl::StatusOr<SweepTable> SweepThreshold(const LoadedConfig& loaded) {
  LOOKASIDE_ASSIGN_OR_RETURN(const Vary vary, ParseVary(kDemoVary));
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                             OpenDemo());
  LOOKASIDE_ASSIGN_OR_RETURN(
      Study study,
      RunStudy(loaded, {&vary, 1}, [&](std::span<const SweepPoint> points) {
        return RunSweep(points, *reader, {});
      }));
  return TableOf(std::move(study), {&vary, 1});
}

uint64_t CyclesOf(const SweepTable& table, size_t point) {
  return table.results[point].totals.cycles.Total().value();
}

// "0.16 % more than the best", or that it is the best.
std::string AgainstBest(const SweepTable& table, size_t point) {
  const uint64_t least = CyclesOf(table, BestPoints(table).front());
  const uint64_t cycles = CyclesOf(table, point);
  if (cycles == least) return "as little as the best";
  return Percent(cycles - least, least) + " more than the best";
}

// What the table shows, in two sentences.
std::string Reading(const SweepTable& table) {
  const FlushCounters& flushes = table.results[kLinuxPoint].totals.flushes;
  const std::string& best = table.values[BestPoints(table).front()].front();
  return WrapText(
      "",
      fmt::format(
          "The program's calls made the kernel flush {} times, {} pages in "
          "all, and ask {} other CPUs to do the same. It is cheapest to go "
          "page by page up to {} pages and to drop everything above: Linux's "
          "33 costs {}, and always dropping everything costs {}.",
          Grouped(flushes.requests), Grouped(flushes.pages),
          Grouped(flushes.ipis), best, AgainstBest(table, kLinuxPoint),
          AgainstBest(table, 0)));
}

std::string DemoText(const SweepTable& table) {
  return "\n" +
         WrapText("",
                  "Above is what address translation cost the recorded program "
                  "on that machine. Below, the same recording with different "
                  "thresholds: a flush of at most kernel.flush.ceiling pages "
                  "goes page by page, a larger one drops everything.") +
         "\n" + SweepTableText(table) + "\n" + Reading(table) + "\n" +
         WrapText("",
                  "No source settles how much of a walk the processor hides, "
                  "how far data crowd page tables out of the caches, and how "
                  "many pages of its own the kernel touches. The best "
                  "threshold at both ends of each:") +
         "\n" + SweepEndsText(table) + "\n" +
         WrapText("",
                  "Next, sweep a recording of your own ('lookaside sweep "
                  "--help' and 'lookaside replay --help' show how), or list "
                  "the processors with 'lookaside config list'.");
}

}  // namespace

absl::Status RunDemo(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(CheckResultFiles(arguments));
  const ConfigRequest request{.file = "", .cpu = kDemoPreset, .sets = {}};
  LOOKASIDE_ASSIGN_OR_RETURN(const LoadedConfig loaded, LoadConfig(request));
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                             OpenDemo());
  TraceReader* const readers[] = {reader.get()};
  LOOKASIDE_ASSIGN_OR_RETURN(const Replayed replayed,
                             Play(loaded.config, 0, readers));
  LOOKASIDE_ASSIGN_OR_RETURN(const SweepTable table, SweepThreshold(loaded));
  if (!arguments.json.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(
        WriteResultFile(arguments.json, SweepJson(table, replayed.host)));
  }
  if (TakesStandardOutput(arguments)) return absl::OkStatus();
  return WriteStandardOutput(
      TextReport(replayed.result, MachineLine(request, loaded)) +
      DemoText(table));
}

}  // namespace lookaside
