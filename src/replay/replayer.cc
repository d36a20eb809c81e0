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

class Replayer {
 public:
  Replayer(Simulation& simulation, const ReplayOptions& options)
      : simulation_(simulation),
        options_(options),
        cpu_(simulation.config().replay.cpu),
        warmup_left_(simulation.config().replay.warmup) {}

  absl::Status Play(std::span<const TraceEvent> events);
  absl::StatusOr<RunResult> Finish(const TraceReader& reader);

 private:
  absl::Status PlayCounted(std::span<const TraceEvent> events);
  absl::Status CheckStrict() const;
  void Warn(const TraceReader& reader, RunResult& result) const;

  Simulation& simulation_;
  const ReplayOptions& options_;
  CpuId cpu_;
  uint64_t warmup_left_;
  uint64_t accesses_ = 0;
  std::optional<Pacing> pacing_;
  std::optional<uint64_t> late_fetch_;  // events before the buffer of it
  std::optional<RunResult> warm_;       // at the end of the warm-up
};

absl::Status Replayer::Play(std::span<const TraceEvent> events) {
  const bool has_fetch = HasFetch(events);
  if (!pacing_) {
    pacing_ = has_fetch ? Pacing::kInstructions : Pacing::kAccesses;
  } else if (*pacing_ == Pacing::kAccesses && has_fetch && !late_fetch_) {
    late_fetch_ = simulation_.played();
    pacing_ = Pacing::kInstructions;
  }
  if (warmup_left_ > 0) {
    const size_t n = EventsFor(events, warmup_left_);
    LOOKASIDE_RETURN_IF_ERROR(PlayCounted(events.first(n)));
    warmup_left_ -= std::min(warmup_left_, CountAccesses(events.first(n)));
    events = events.subspan(n);
    if (warmup_left_ == 0) warm_ = simulation_.Results();
  }
  return PlayCounted(events);
}

absl::Status Replayer::PlayCounted(std::span<const TraceEvent> events) {
  const absl::Status played = simulation_.Play(cpu_, events, *pacing_);
  if (!played.ok()) {
    return absl::Status(
        played.code(),
        fmt::format("event {}: {}", simulation_.played() + 1, Message(played)));
  }
  accesses_ += CountAccesses(events);
  LOOKASIDE_RETURN_IF_ERROR(CheckStrict());
  if (options_.progress) options_.progress(simulation_.played(), accesses_);
  return absl::OkStatus();
}

absl::Status Replayer::CheckStrict() const {
  const UnknownMappings& unknown = simulation_.kernel().unknown_mappings();
  if (!simulation_.config().replay.strict || unknown.count == 0) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      "the access to {:#x} is outside every mapping that the trace tells of, "
      "and replay.strict = true makes that an error",
      unknown.first.value());
}

void Replayer::Warn(const TraceReader& reader, RunResult& result) const {
  result.warnings = reader.info().warnings;
  const UnknownMappings& unknown = simulation_.kernel().unknown_mappings();
  if (unknown.count > 0) {
    result.warnings.push_back(fmt::format(
        "{} pages outside every mapping that the trace tells of were mapped "
        "on first touch, the first at {:#x}",
        unknown.count, unknown.first.value()));
  }
  if (late_fetch_) {
    result.warnings.push_back(fmt::format(
        "instruction fetches begin after event {}: until then every access "
        "advanced the clock, from then on every instruction",
        *late_fetch_));
  }
  if (warmup_left_ > 0) {
    result.warnings.push_back(fmt::format(
        "replay.warmup = {} covers the whole trace ({} accesses): nothing was "
        "counted",
        simulation_.config().replay.warmup, accesses_));
  }
}

absl::StatusOr<RunResult> Replayer::Finish(const TraceReader& reader) {
  LOOKASIDE_RETURN_IF_ERROR(reader.status());
  RunResult result = simulation_.Results();
  if (warmup_left_ > 0) warm_ = result;
  if (warm_) result = Since(std::move(result), *warm_);
  result.traces.push_back(reader.info());
  Warn(reader, result);
  return result;
}

}  // namespace

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
