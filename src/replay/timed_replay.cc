// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/timed_replay.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/base/ids.h"
#include "lookaside/base/status.h"
#include "lookaside/machine/check_counters.h"
#include "lookaside/machine/machine.h"
#include "lookaside/replay/replay_warnings.h"
#include "lookaside/replay/since.h"

namespace lookaside {
namespace {

// Steps between two reports of progress.
constexpr uint64_t kProgressSteps = uint64_t{1} << 18;

}  // namespace

TimedReplay::TimedReplay(Simulation& simulation,
                         std::function<void(uint64_t, uint64_t)> progress)
    : simulation_(simulation),
      progress_(std::move(progress)),
      order_(simulation),
      warmup_(simulation.config().replay.warmup) {}

absl::Status TimedReplay::Add(TraceReader& reader) {
  ThreadStreams* const streams = reader.streams();
  warmup_ += reader.info().setup_accesses;
  if (streams == nullptr) return AddRecording(reader.info().name);
  LOOKASIDE_ASSIGN_OR_RETURN(
      const size_t process,
      order_.AddProcess(
          *streams,
          reader.info().has_fetches ? Pacing::kInstructions : Pacing::kAccesses,
          reader.info().name));
  Trace trace;
  trace.ended = trace.started = true;
  traces_.push_back(std::move(trace));
  order_.AddThread(process, 0);
  return absl::OkStatus();
}

absl::Status TimedReplay::AddRecording(const std::string& name) {
  const ReplayConfig& replay = simulation_.config().replay;
  Trace trace;
  trace.record = std::make_unique<RecordStreams>(
      replay.lookahead, replay.operations == ReplayOperations::kApply);
  LOOKASIDE_RETURN_IF_ERROR(
      order_.AddProcess(*trace.record, Pacing::kAccesses, name).status());
  traces_.push_back(std::move(trace));
  return absl::OkStatus();
}

std::optional<size_t> TimedReplay::wants() const {
  if (deadlock_) return std::nullopt;
  for (size_t i = 0; i < traces_.size(); ++i) {
    if (!traces_[i].ended && traces_[i].record->wants()) return i;
  }
  return std::nullopt;
}

void TimedReplay::Feed(size_t number, std::span<const TraceEvent> events,
                       std::span<const MemoryCall> calls) {
  if (deadlock_) return;
  Trace& trace = traces_[number];
  trace.record->Feed(events, calls);
  if (!trace.started) {
    trace.has_fetch =
        trace.has_fetch || std::ranges::any_of(events, [](const TraceEvent& e) {
          return e.kind == EventKind::kFetch;
        });
    return;
  }
  for (const uint32_t thread : trace.record->threads()) {
    order_.AddThread(number, thread);
  }
}

void TimedReplay::End(size_t trace) {
  traces_[trace].ended = true;
  traces_[trace].record->End();
}

// The first windows are full: it is known what paces each recording.
void TimedReplay::Start() {
  for (size_t i = 0; i < traces_.size(); ++i) {
    Trace& trace = traces_[i];
    if (trace.started) continue;
    trace.started = true;
    if (trace.has_fetch) order_.SetPacing(i, Pacing::kInstructions);
    for (const uint32_t thread : trace.record->threads()) {
      order_.AddThread(i, thread);
    }
  }
}

void TimedReplay::EndWarmup() {
  warm_ = simulation_.Results();
  warm_time_ = order_.now();
  warm_threads_ = order_.threads();
}

absl::Status TimedReplay::Run() {
  if (deadlock_ || wants()) return absl::OkStatus();
  Start();
  order_.PauseAt(warm_ || warmup_ == 0 ? ~uint64_t{0} : warmup_);
  for (uint64_t steps = 0; !wants(); ++steps) {
    const absl::StatusOr<bool> goes_on = order_.Step();
    if (absl::IsFailedPrecondition(goes_on.status())) {
      deadlock_ = Message(goes_on.status());
      return absl::OkStatus();
    }
    LOOKASIDE_RETURN_IF_ERROR(goes_on.status());
    if (!warm_ && warmup_ > 0 && order_.accesses() >= warmup_) {
      EndWarmup();
      order_.PauseAt(~uint64_t{0});
    }
    if (progress_ && steps % kProgressSteps == 0) {
      progress_(order_.accesses(), order_.accesses());
    }
    if (*goes_on) continue;
    if (!order_.finished()) {
      deadlock_ = "deadlock (C10): every thread waits for another one";
      simulation_.machine().checks().Add({.check = Check::kC10,
                                          .cpu = CpuId(0),
                                          .page = VirtPage(0),
                                          .age = Cycles(),
                                          .operation = "the trace"});
    }
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<RunResult> TimedReplay::Finish(
    const std::vector<TraceInfo>& infos) {
  LOOKASIDE_CHECK(infos.size() == traces_.size());
  RunResult result = simulation_.Results();
  const bool all_warmup = warmup_ > 0 && !warm_;
  if (all_warmup) EndWarmup();
  if (warm_) result = Since(std::move(result), *warm_, warm_time_);
  result.threads = order_.threads();
  for (ThreadResult& thread : result.threads) {
    for (const ThreadResult& warm : warm_threads_) {
      if (warm.trace != thread.trace || warm.thread != thread.thread) continue;
      thread.accesses -= warm.accesses;
    }
  }
  std::vector<ReplayedTrace> traces;
  for (size_t i = 0; i < infos.size(); ++i) {
    traces.push_back({infos[i], order_.calls(i)});
  }
  result.traces = infos;
  const ReplayConfig& replay = simulation_.config().replay;
  result.warnings = WarningsOf(traces, replay.operations, /*timed=*/true);
  if (deadlock_) {
    result.warnings.insert(result.warnings.begin(),
                           *deadlock_ +
                               ": the result is incomplete, of what was played "
                               "until then");
  }
  for (std::string& text :
       WarningsOf(simulation_.kernel().unknown_mappings(), infos.size())) {
    result.warnings.push_back(std::move(text));
  }
  if (all_warmup) {
    result.warnings.push_back(
        WholeWarmup(replay.warmup, order_.accesses(), infos.size()));
  }
  return result;
}

}  // namespace lookaside
