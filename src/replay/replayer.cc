// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/replayer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

uint64_t CountAccesses(std::span<const TraceEvent> events) {
  uint64_t accesses = 0;
  for (const TraceEvent& event : events) accesses += Accesses(event.kind);
  return accesses;
}

bool HasFetch(std::span<const TraceEvent> events) {
  return std::any_of(events.begin(), events.end(), [](const TraceEvent& e) {
    return e.kind == EventKind::kFetch;
  });
}

// How many of `events` cover `accesses`.
size_t EventsFor(std::span<const TraceEvent> events, uint64_t accesses) {
  size_t n = 0;
  for (uint64_t covered = 0; n < events.size() && covered < accesses; ++n) {
    covered += Accesses(events[n].kind);
  }
  return n;
}

// Result less what had been counted at `start`.
RunResult Since(RunResult result, const RunResult& start) {
  CpuResult totals;
  totals.counters = CpuCounters(result.totals.counters.tlb.size());
  for (UsedCpu& used : result.cpus) {
    for (const UsedCpu& before : start.cpus) {
      if (before.cpu == used.cpu) used.result -= before.result;
    }
    totals += used.result;
  }
  result.totals = totals;
  return result;
}

}  // namespace

Replayer::Replayer(Simulation& simulation, ReplayOptions options)
    : simulation_(simulation),
      options_(std::move(options)),
      cpu_(simulation.config().replay.cpu),
      warmup_left_(simulation.config().replay.warmup) {}

// Calls are not applied: each is jumped over.
absl::Status Replayer::Play(std::span<const TraceEvent> events) {
  while (!events.empty()) {
    const size_t accesses = AccessesBeforeCall(events);
    if (accesses > 0) {
      LOOKASIDE_RETURN_IF_ERROR(PlayAccesses(events.first(accesses)));
    }
    events = events.subspan(std::min(accesses + 1, events.size()));
  }
  return absl::OkStatus();
}

absl::Status Replayer::PlayAccesses(std::span<const TraceEvent> events) {
  if (HasFetch(events)) pacing_ = Pacing::kInstructions;
  if (warmup_left_ > 0) {
    const size_t n = EventsFor(events, warmup_left_);
    LOOKASIDE_RETURN_IF_ERROR(PlayPart(events.first(n)));
    warmup_left_ -= std::min(warmup_left_, CountAccesses(events.first(n)));
    events = events.subspan(n);
    if (warmup_left_ > 0) return absl::OkStatus();
    warm_ = simulation_.Results();
  }
  if (pacing_ == Pacing::kAccesses) paced_accesses_ += CountAccesses(events);
  return PlayPart(events);
}

absl::Status Replayer::PlayPart(std::span<const TraceEvent> events) {
  const uint64_t before = simulation_.played();
  const absl::Status played = simulation_.Play(cpu_, events, pacing_);
  if (!played.ok()) {
    const TraceEvent& event = events[simulation_.played() - before];
    return absl::Status(
        played.code(),
        fmt::format("event {} (a {} of {} bytes at {:#x}): {}",
                    simulation_.played() + 1, Name(event.kind), event.size,
                    event.address.value(), Message(played)));
  }
  accesses_ += CountAccesses(events);
  if (options_.progress) options_.progress(simulation_.played(), accesses_);
  return CheckClock();
}

// A buffer of the costliest events stays far below the other half.
absl::Status Replayer::CheckClock() const {
  constexpr uint64_t kMostCycles = uint64_t{1} << 62;
  if (simulation_.machine().used_cpu(cpu_).clock().value() <= kMostCycles) {
    return absl::OkStatus();
  }
  return ResourceExhausted(
      "event {}: the clock has passed 2^62 cycles; choose smaller costs or a "
      "shorter trace",
      simulation_.played());
}

void Replayer::TakeBackPacing(RunResult& result) const {
  if (pacing_ == Pacing::kAccesses) return;
  const Cycles cycles =
      simulation_.machine().costs().instruction * paced_accesses_;
  CostLedger ledger;
  ledger.Add(CostKind::kBase, cycles);
  for (UsedCpu& used : result.cpus) {
    if (used.cpu != cpu_) continue;
    used.result.cycles -= ledger;
    used.result.elapsed -= cycles;
  }
  result.totals.cycles -= ledger;
  result.totals.elapsed -= cycles;
}

// What of the trace is not simulated.
void WarnOfOmissions(const TraceInfo& info,
                     std::vector<std::string>& warnings) {
  if (info.threads > 1) {
    warnings.push_back(fmt::format(
        "the recording has {} threads; all of them are played on one cpu, "
        "replay.cpu, in recorded order",
        info.threads));
  }
  if (const uint64_t calls = AllCalls(info); calls > 0) {
    warnings.push_back(fmt::format(
        "{} memory-management call{} not applied: only accesses are played, "
        "so that what the program unmaps or protects stays as it is",
        calls, calls == 1 ? " was" : "s were"));
  }
}

void Replayer::Warn(const TraceReader& reader, RunResult& result) const {
  const TraceInfo info = reader.info();
  result.warnings = info.warnings;
  WarnOfOmissions(info, result.warnings);
  const UnknownMappings& unknown = simulation_.kernel().unknown_mappings();
  if (unknown.count > 0) {
    result.warnings.push_back(fmt::format(
        "{} outside every mapping that the trace tells of {} mapped on first "
        "touch, the first at {:#x}: a recording does not tell what was mapped "
        "before it began; replay.strict = true makes this an error",
        unknown.count == 1 ? "1 page" : fmt::format("{} pages", unknown.count),
        unknown.count == 1 ? "was" : "were", unknown.first.value()));
  }
  if (warmup_left_ > 0) {
    result.warnings.push_back(fmt::format(
        "replay.warmup = {} covers the whole trace ({} access{}): nothing was "
        "counted; choose a smaller one",
        simulation_.config().replay.warmup, accesses_,
        accesses_ == 1 ? "" : "es"));
  }
}

absl::StatusOr<RunResult> Replayer::Finish(const TraceReader& reader) {
  LOOKASIDE_RETURN_IF_ERROR(reader.status());
  RunResult result = simulation_.Results();
  if (warmup_left_ > 0) warm_ = result;
  if (warm_) result = Since(std::move(result), *warm_);
  TakeBackPacing(result);
  result.traces.push_back(reader.info());
  Warn(reader, result);
  return result;
}

absl::StatusOr<RunResult> Replay(Simulation& simulation, TraceReader& reader,
                                 const ReplayOptions& options) {
  Replayer replayer(simulation, options);
  std::vector<TraceEvent> buffer(kBufferEvents);
  while (const size_t n = reader.Read(buffer)) {
    LOOKASIDE_RETURN_IF_ERROR(replayer.Play({buffer.data(), n}));
  }
  return replayer.Finish(reader);
}

}  // namespace lookaside
