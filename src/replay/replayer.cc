// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/replayer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lookaside/base/check.h"
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

// How many of `events`, which begin with an access, are accesses of one thread.
size_t StretchOfThread(std::span<const TraceEvent> events) {
  const uint32_t thread = events.front().thread;
  size_t n = 1;
  while (n < events.size() && events[n].thread == thread &&
         events[n].kind != EventKind::kCall) {
    ++n;
  }
  return n;
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
      order_(simulation),
      applies_calls_(simulation.config().replay.operations ==
                     ReplayOperations::kApply),
      warmup_left_(simulation.config().replay.warmup) {}

Replayer::Replayer(const Replayer& other, Simulation& clone)
    : simulation_(clone),
      options_(other.options_),
      order_(other.order_, clone),
      applies_calls_(other.applies_calls_),
      warmup_left_(other.warmup_left_),
      calls_passed_(other.calls_passed_),
      accesses_(other.accesses_),
      pacing_(other.pacing_),
      paced_accesses_(other.paced_accesses_),
      warm_(other.warm_) {}

// Stretches of one thread's accesses, and calls.
absl::Status Replayer::Play(std::span<const TraceEvent> events,
                            std::span<const MemoryCall> calls) {
  while (!events.empty()) {
    if (events.front().kind == EventKind::kCall) {
      if (applies_calls_) {
        const uint64_t number = events.front().address.value();
        LOOKASIDE_CHECK(number < calls.size());
        LOOKASIDE_RETURN_IF_ERROR(Apply(calls[number]));
      }
      ++calls_passed_;
      events = events.subspan(1);
      continue;
    }
    const size_t stretch = StretchOfThread(events);
    LOOKASIDE_RETURN_IF_ERROR(PlayAccesses(events.first(stretch)));
    events = events.subspan(stretch);
  }
  return absl::OkStatus();
}

absl::Status Replayer::Apply(const MemoryCall& call) {
  const absl::Status applied = order_.Apply(call);
  if (!applied.ok()) {
    return absl::Status(
        applied.code(),
        fmt::format("after event {}, at {}: {}", simulation_.played(),
                    ToString(call), Message(applied)));
  }
  return CheckClock(order_.CpuOf(call.thread));
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
  if (pacing_ == Pacing::kAccesses && !events.empty()) {
    paced_accesses_[order_.CpuOf(events.front().thread)] +=
        CountAccesses(events);
  }
  return PlayPart(events);
}

absl::Status Replayer::PlayPart(std::span<const TraceEvent> events) {
  if (events.empty()) return absl::OkStatus();
  const uint64_t before = simulation_.played();
  const uint32_t thread = events.front().thread;
  const absl::Status played = order_.Play(thread, events, pacing_);
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
  return CheckClock(order_.CpuOf(thread));
}

// A buffer of the costliest events stays far below the other half.
absl::Status Replayer::CheckClock(CpuId cpu) const {
  constexpr uint64_t kMostCycles = uint64_t{1} << 62;
  if (simulation_.machine().used_cpu(cpu).clock().value() <= kMostCycles) {
    return absl::OkStatus();
  }
  return ResourceExhausted(
      "event {}: the clock has passed 2^62 cycles; choose smaller costs or a "
      "shorter trace",
      simulation_.played());
}

void Replayer::TakeBackPacing(RunResult& result) const {
  if (pacing_ == Pacing::kAccesses) return;
  Cycles longest;
  for (UsedCpu& used : result.cpus) {
    const auto paced = paced_accesses_.find(used.cpu);
    if (paced != paced_accesses_.end()) {
      CostLedger ledger;
      ledger.Add(CostKind::kBase,
                 simulation_.machine().costs().instruction * paced->second);
      used.result.cycles -= ledger;
      used.result.elapsed -= ledger.Total();
      result.totals.cycles -= ledger;
    }
    longest = std::max(longest, used.result.elapsed);
  }
  result.totals.elapsed = longest;
}

// What of the trace is not simulated as it was.
void WarnOfOmissions(const TraceInfo& info, const SimConfig& config,
                     const CallCounts& calls,
                     std::vector<std::string>& warnings) {
  if (info.threads > 1) {
    warnings.push_back(fmt::format(
        "the recording has {} threads, which its recorder let run one at a "
        "time: the order among them is the record's, and no race can show",
        info.threads));
  }
  const uint64_t recorded = AllCalls(info);
  if (recorded > 0 && config.replay.operations == ReplayOperations::kIgnore) {
    warnings.push_back(fmt::format(
        "{} memory-management call{} not applied (replay.operations = "
        "ignore): what the program unmaps or protects stays as it is",
        recorded, recorded == 1 ? " was" : "s were"));
  }
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
}

void Replayer::Warn(const TraceInfo& info, RunResult& result) const {
  result.warnings = info.warnings;
  WarnOfOmissions(info, result.config, order_.calls(), result.warnings);
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

absl::StatusOr<RunResult> Replayer::Finish(const TraceReader& reader) const {
  LOOKASIDE_RETURN_IF_ERROR(reader.status());
  return Finish(reader.info(), simulation_.Results(), warm_);
}

RunResult Replayer::Finish(const TraceInfo& trace, RunResult counted,
                           const std::optional<RunResult>& warm) const {
  if (warmup_left_ > 0) {
    const RunResult all = counted;
    counted = Since(std::move(counted), all);
  } else if (warm) {
    counted = Since(std::move(counted), *warm);
  }
  TakeBackPacing(counted);
  counted.traces.push_back(trace);
  Warn(trace, counted);
  return counted;
}

absl::StatusOr<RunResult> Replay(Simulation& simulation, TraceReader& reader,
                                 const ReplayOptions& options) {
  Replayer replayer(simulation, options);
  std::vector<TraceEvent> buffer(kBufferEvents);
  while (const size_t n = reader.Read(buffer)) {
    LOOKASIDE_RETURN_IF_ERROR(
        replayer.Play({buffer.data(), n}, reader.calls()));
  }
  return replayer.Finish(reader);
}

}  // namespace lookaside
