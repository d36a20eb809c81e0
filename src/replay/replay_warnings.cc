// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/replay_warnings.h"

#include <fmt/format.h>

namespace lookaside {
namespace {

std::string ThreadsWarning(const TraceInfo& info, bool timed) {
  // DynamoRIO lets threads run side by side; Valgrind does not.
  if (RecordedAs(info).starts_with("drmemtrace")) {
    return fmt::format(
        "the recording has {} threads, which ran side by side: {}",
        info.threads,
        timed ? "in timed order they do again between its calls, and stand "
                "still while one of them makes a call"
              : "they are played in one order, that of their files' marks, and "
                "no race can show");
  }
  if (timed) {
    return fmt::format(
        "the recording has {} threads, which its recorder let run one at a "
        "time: in timed order they run side by side between its calls, and "
        "stand still while one of them makes a call",
        info.threads);
  }
  return fmt::format(
      "the recording has {} threads, which its recorder let run one at a "
      "time: the order among them is the record's, and no race can show",
      info.threads);
}

std::vector<std::string> WarningsOf(const ReplayedTrace& trace,
                                    ReplayOperations operations, bool timed) {
  const TraceInfo& info = trace.info;
  std::vector<std::string> warnings = info.warnings;
  // A generator has its natural order.
  if (info.threads > 1 && RecordedAs(info) != "generator") {
    warnings.push_back(ThreadsWarning(info, timed));
  }
  const uint64_t recorded = AllCalls(info);
  if (recorded > 0 && operations == ReplayOperations::kIgnore) {
    warnings.push_back(fmt::format(
        "{} memory-management call{} not applied (replay.operations = "
        "ignore): what the program unmaps or protects stays as it is",
        recorded, recorded == 1 ? " was" : "s were"));
  }
  const CallCounts& calls = trace.calls;
  if (calls.revived > 0) {
    warnings.push_back(fmt::format(
        "{} thread{} of the recording went on after the exit that it tells "
        "of, in a new address space: the recording may be of several "
        "processes; record one at a time",
        calls.revived, calls.revived == 1 ? "" : "s"));
  }
  if (calls.refused > 0) {
    warnings.push_back(fmt::format(
        "{} memory-management call{} that succeeded when recorded failed in "
        "the simulated kernel: a recording does not tell what was mapped "
        "before it began",
        calls.refused, calls.refused == 1 ? "" : "s"));
  }
  return warnings;
}

}  // namespace

std::vector<std::string> WarningsOf(const std::vector<ReplayedTrace>& traces,
                                    ReplayOperations operations, bool timed) {
  std::vector<std::string> warnings;
  for (const ReplayedTrace& trace : traces) {
    for (const std::string& text : WarningsOf(trace, operations, timed)) {
      warnings.push_back(traces.size() == 1
                             ? text
                             : fmt::format("{}: {}", trace.info.name, text));
    }
  }
  return warnings;
}

std::vector<std::string> WarningsOf(const UnknownMappings& unknown,
                                    size_t traces) {
  if (unknown.count == 0) return {};
  return {fmt::format(
      "{} outside every mapping that the {} of {} mapped on first touch, the "
      "first at {:#x}: a recording does not tell what was mapped before it "
      "began; replay.strict = true makes this an error",
      unknown.count == 1 ? "1 page" : fmt::format("{} pages", unknown.count),
      traces == 1 ? "trace tells" : "traces tell",
      unknown.count == 1 ? "was" : "were", unknown.first.value())};
}

std::string WholeWarmup(uint64_t warmup, uint64_t accesses, size_t traces) {
  return fmt::format(
      "replay.warmup = {} covers the whole trace{} ({} access{}): nothing was "
      "counted; choose a smaller one",
      warmup, traces == 1 ? "" : "s", accesses, accesses == 1 ? "" : "es");
}

}  // namespace lookaside
