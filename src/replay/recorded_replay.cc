// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/recorded_replay.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/replay/replay_warnings.h"
#include "lookaside/replay/since.h"

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

}  // namespace

RecordedReplay::RecordedReplay(Simulation& simulation,
                               std::function<void(uint64_t, uint64_t)> progress,
                               uint64_t setup_accesses)
    : simulation_(simulation),
      progress_(std::move(progress)),
      applies_calls_(simulation.config().replay.operations ==
                     ReplayOperations::kApply),
      warmup_left_(simulation.config().replay.warmup + setup_accesses) {
  if (simulation.config().kernel.flush_policy ==
      FlushPolicyKind::kClairvoyant) {
    ahead_.emplace();
  }
  Foresee();
}

RecordedReplay::RecordedReplay(const RecordedReplay& other, Simulation& clone)
    : simulation_(clone),
      applies_calls_(other.applies_calls_),
      occupants_(other.occupants_),
      warmup_left_(other.warmup_left_),
      calls_passed_(other.calls_passed_),
      accesses_(other.accesses_),
      playing_(other.playing_),
      ahead_(other.ahead_),
      warm_(other.warm_) {
  for (const auto& trace : other.traces_) {
    traces_.push_back(std::make_unique<Trace>(*trace, clone, occupants_));
  }
  Foresee();
}

RecordedReplay::~RecordedReplay() {
  if (ahead_) simulation_.kernel().SetForesight({});
}

// The number of the event being played is position().
void RecordedReplay::Foresee() {
  if (!ahead_) return;
  simulation_.kernel().SetForesight([this](CpuId cpu, VirtPage page,
                                           PageSize size) {
    const auto cpu_of = [this](size_t trace, uint32_t thread) {
      return traces_[trace]->order.CpuOf(thread);
    };
    ahead_->Learn(position() + simulation_.config().replay.foresight, cpu_of);
    return ahead_->UsesAgain(cpu, page, size, position());
  });
}

absl::Status RecordedReplay::Add() {
  MmId mm = simulation_.process();
  if (!traces_.empty()) {
    LOOKASIDE_ASSIGN_OR_RETURN(
        mm, simulation_.NewProcess(CpuId(simulation_.config().replay.cpu)));
  }
  traces_.push_back(
      std::make_unique<Trace>(simulation_, occupants_, traces_.size(), mm));
  return absl::OkStatus();
}

absl::Status RecordedReplay::Play(size_t number,
                                  std::span<const TraceEvent> events,
                                  std::span<const MemoryCall> calls) {
  if (!ahead_) return PlayNow(number, events, calls);
  ahead_->Push(number, events, calls);
  while (ahead_->Ready(simulation_.config().replay.foresight)) {
    LOOKASIDE_RETURN_IF_ERROR(PlayHeld());
  }
  return absl::OkStatus();
}

absl::Status RecordedReplay::End() {
  while (ahead_ && !ahead_->empty()) {
    LOOKASIDE_RETURN_IF_ERROR(PlayHeld());
  }
  return absl::OkStatus();
}

absl::Status RecordedReplay::PlayHeld() {
  const ReadAhead::Piece& piece = ahead_->Front();
  LOOKASIDE_RETURN_IF_ERROR(PlayNow(piece.trace, piece.events, piece.calls));
  ahead_->Pop();
  return absl::OkStatus();
}

// Stretches of one thread's accesses, and calls.
absl::Status RecordedReplay::PlayNow(size_t number,
                                     std::span<const TraceEvent> events,
                                     std::span<const MemoryCall> calls) {
  playing_ = number;
  Trace& trace = *traces_[number];
  while (!events.empty()) {
    if (events.front().kind == EventKind::kCall) {
      if (applies_calls_) {
        const uint64_t call = events.front().address.value();
        LOOKASIDE_CHECK(call < calls.size());
        LOOKASIDE_RETURN_IF_ERROR(Apply(trace, calls[call]));
      }
      ++calls_passed_;
      events = events.subspan(1);
      continue;
    }
    const size_t stretch = StretchOfThread(events);
    LOOKASIDE_RETURN_IF_ERROR(PlayAccesses(trace, events.first(stretch)));
    events = events.subspan(stretch);
  }
  return absl::OkStatus();
}

absl::Status RecordedReplay::Apply(Trace& trace, const MemoryCall& call) {
  const absl::Status applied = trace.order.Apply(call);
  if (!applied.ok()) {
    return absl::Status(applied.code(),
                        fmt::format("after event {}, at {}: {}", trace.played,
                                    ToString(call), Message(applied)));
  }
  return CheckClock(trace, trace.order.CpuOf(call.thread));
}

absl::Status RecordedReplay::PlayAccesses(Trace& trace,
                                          std::span<const TraceEvent> events) {
  if (HasFetch(events)) trace.pacing = Pacing::kInstructions;
  if (warmup_left_ > 0) {
    const size_t n = EventsFor(events, warmup_left_);
    LOOKASIDE_RETURN_IF_ERROR(PlayPart(trace, events.first(n)));
    warmup_left_ -= std::min(warmup_left_, CountAccesses(events.first(n)));
    events = events.subspan(n);
    if (warmup_left_ > 0) return absl::OkStatus();
    warm_ = simulation_.Results();
  }
  if (trace.pacing == Pacing::kAccesses && !events.empty()) {
    trace.paced_accesses[trace.order.CpuOf(events.front().thread)] +=
        CountAccesses(events);
  }
  return PlayPart(trace, events);
}

absl::Status RecordedReplay::PlayPart(Trace& trace,
                                      std::span<const TraceEvent> events) {
  if (events.empty()) return absl::OkStatus();
  const uint64_t before = simulation_.played();
  const uint32_t thread = events.front().thread;
  const absl::Status played = trace.order.Play(thread, events, trace.pacing);
  const uint64_t done = simulation_.played() - before;
  trace.played += done;
  if (!played.ok()) {
    const TraceEvent& event = events[done];
    return absl::Status(
        played.code(),
        fmt::format("event {} (a {} of {} bytes at {:#x}): {}",
                    trace.played + 1, Name(event.kind), event.size,
                    event.address.value(), Message(played)));
  }
  accesses_ += CountAccesses(events);
  if (progress_) progress_(simulation_.played(), accesses_);
  return CheckClock(trace, trace.order.CpuOf(thread));
}

// A buffer of the costliest events stays far below the other half.
absl::Status RecordedReplay::CheckClock(const Trace& trace, CpuId cpu) const {
  constexpr uint64_t kMostCycles = uint64_t{1} << 62;
  if (simulation_.machine().used_cpu(cpu).clock().value() <= kMostCycles) {
    return absl::OkStatus();
  }
  return ResourceExhausted(
      "event {}: the clock has passed 2^62 cycles; choose smaller costs or a "
      "shorter trace",
      trace.played);
}

void RecordedReplay::TakeBackPacing(RunResult& result) const {
  for (const auto& trace : traces_) {
    if (trace->pacing == Pacing::kAccesses) continue;
    for (UsedCpu& used : result.cpus) {
      const auto paced = trace->paced_accesses.find(used.cpu);
      if (paced == trace->paced_accesses.end()) continue;
      CostLedger ledger;
      ledger.Add(CostKind::kBase,
                 simulation_.machine().costs().instruction * paced->second);
      used.result.cycles -= ledger;
      used.result.elapsed -= ledger.Total();
      result.totals.cycles -= ledger;
    }
  }
  Cycles longest;
  for (const UsedCpu& used : result.cpus) {
    longest = std::max(longest, used.result.elapsed);
  }
  result.totals.elapsed = longest;
}

void RecordedReplay::Warn(const std::vector<TraceInfo>& infos,
                          RunResult& result) const {
  const ReplayConfig& replay = simulation_.config().replay;
  std::vector<ReplayedTrace> traces;
  for (size_t i = 0; i < infos.size(); ++i) {
    traces.push_back({infos[i], traces_[i]->order.calls()});
  }
  result.warnings = WarningsOf(traces, replay.operations, /*timed=*/false);
  for (std::string& text :
       WarningsOf(simulation_.kernel().unknown_mappings(), infos.size())) {
    result.warnings.push_back(std::move(text));
  }
  if (warmup_left_ > 0) {
    result.warnings.push_back(
        WholeWarmup(replay.warmup, accesses_, infos.size()));
  }
}

RunResult RecordedReplay::Finish(const std::vector<TraceInfo>& infos) const {
  return Finish(infos, simulation_.Results(), warm_);
}

RunResult RecordedReplay::Finish(const std::vector<TraceInfo>& infos,
                                 RunResult counted,
                                 const std::optional<RunResult>& warm) const {
  LOOKASIDE_CHECK(infos.size() == traces_.size());
  LOOKASIDE_CHECK(!ahead_ || ahead_->empty());
  if (warmup_left_ > 0) {
    const RunResult all = counted;
    counted = Since(std::move(counted), all);
  } else if (warm) {
    counted = Since(std::move(counted), *warm);
  }
  TakeBackPacing(counted);
  counted.traces = infos;
  Warn(infos, counted);
  return counted;
}

}  // namespace lookaside
