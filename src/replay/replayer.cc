// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/replayer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

// Of several recordings in recorded order: events between two looks at
// whether the time slice is over.
constexpr size_t kPieceEvents = 1024;
constexpr uint64_t kNoSlice = ~uint64_t{0};

absl::Status WithName(const absl::Status& error, const TraceReader& reader) {
  if (error.ok()) return error;
  const std::string name = reader.info().name;
  const std::string message = Message(error);
  if (message.starts_with(name)) return error;
  return absl::Status(error.code(), fmt::format("{}: {}", name, message));
}

std::vector<TraceInfo> InfosOf(std::span<TraceReader* const> readers) {
  std::vector<TraceInfo> infos;
  for (const TraceReader* reader : readers) infos.push_back(reader->info());
  return infos;
}

// A trace that is read piece by piece.
struct Turn {
  std::vector<TraceEvent> buffer;
  std::span<const TraceEvent> left;  // of the buffer
  bool ended = false;
};

// Instructions, or accesses where none are fetched.
uint64_t LengthOf(std::span<const TraceEvent> events) {
  uint64_t fetches = 0;
  uint64_t accesses = 0;
  for (const TraceEvent& event : events) {
    fetches += event.kind == EventKind::kFetch ? 1 : 0;
    accesses += Accesses(event.kind);
  }
  return fetches > 0 ? fetches : accesses;
}

// Plays until the trace has had a slice more, or ends. Errors name the trace
// that they are of: where events are held back, not the one that is read.
absl::Status TakeTurn(RecordedReplay& replay, size_t trace, Turn& turn,
                      std::span<TraceReader* const> readers, uint64_t slice) {
  TraceReader& reader = *readers[trace];
  for (uint64_t played = 0; played < slice;) {
    if (turn.left.empty()) {
      turn.left = std::span(turn.buffer).first(reader.Read(turn.buffer));
      if (turn.left.empty()) {
        turn.ended = true;
        return reader.status();
      }
    }
    // Whoever is alone plays all that there is.
    const size_t most = slice == kNoSlice ? turn.left.size() : kPieceEvents;
    const auto piece = turn.left.first(std::min(turn.left.size(), most));
    const absl::Status status = replay.Play(trace, piece, reader.calls());
    LOOKASIDE_RETURN_IF_ERROR(WithName(status, *readers[replay.playing()]));
    played += LengthOf(piece);
    turn.left = turn.left.subspan(piece.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<RunResult> ReplayRecorded(Simulation& simulation,
                                         std::span<TraceReader* const> readers,
                                         const ReplayOptions& options) {
  const SimConfig& config = simulation.config();
  uint64_t setup = 0;
  for (TraceReader* reader : readers) {
    setup += reader->info().setup_accesses;
  }
  RecordedReplay replay(simulation, options.progress, setup);
  std::vector<Turn> turns(readers.size());
  for (Turn& turn : turns) {
    LOOKASIDE_RETURN_IF_ERROR(replay.Add());
    turn.buffer.resize(kBufferEvents);
  }
  // Whoever is alone need not take turns.
  const uint64_t slice =
      readers.size() == 1
          ? kNoSlice
          : uint64_t{config.replay.slice_us} * config.machine.mhz;
  const auto ended = [](const Turn& turn) { return turn.ended; };
  while (!std::ranges::all_of(turns, ended)) {
    for (size_t i = 0; i < turns.size(); ++i) {
      if (turns[i].ended) continue;
      LOOKASIDE_RETURN_IF_ERROR(TakeTurn(replay, i, turns[i], readers, slice));
    }
  }
  const absl::Status status = replay.End();
  LOOKASIDE_RETURN_IF_ERROR(WithName(status, *readers[replay.playing()]));
  return replay.Finish(InfosOf(readers));
}

absl::StatusOr<RunResult> ReplayTimed(Simulation& simulation,
                                      std::span<TraceReader* const> readers,
                                      const ReplayOptions& options) {
  if (simulation.config().kernel.flush_policy ==
      FlushPolicyKind::kClairvoyant) {
    return InvalidArgument(
        "kernel.flush.policy = \"clairvoyant\" has to know what comes next, "
        "which timed order does not: set replay.order to recorded");
  }
  TimedReplay replay(simulation, options.progress);
  for (TraceReader* reader : readers) {
    LOOKASIDE_RETURN_IF_ERROR(replay.Add(*reader));
  }
  std::vector<TraceEvent> buffer(kBufferEvents);
  do {
    while (const std::optional<size_t> wanted = replay.wants()) {
      TraceReader& reader = *readers[*wanted];
      const size_t n = reader.Read(buffer);
      LOOKASIDE_RETURN_IF_ERROR(reader.status());
      if (n == 0) {
        replay.End(*wanted);
      } else {
        replay.Feed(*wanted, std::span(buffer).first(n), reader.calls());
      }
    }
    LOOKASIDE_RETURN_IF_ERROR(replay.Run());
  } while (replay.wants());
  return replay.Finish(InfosOf(readers));
}

}  // namespace

bool IsTimed(const ReplayConfig& config,
             std::span<TraceReader* const> readers) {
  if (config.order != ReplayOrder::kAuto) {
    return config.order == ReplayOrder::kTimed;
  }
  return std::ranges::any_of(readers, [](TraceReader* reader) {
    return reader->streams() != nullptr;
  });
}

Replayer::Replayer(Simulation& simulation, ReplayOptions options) {
  if (IsTimed(simulation.config().replay, {})) {
    timed_ =
        std::make_unique<TimedReplay>(simulation, std::move(options.progress));
    // The first process is the simulation's own: there is nothing to fail.
    LOOKASIDE_CHECK(timed_->AddRecording().ok());
    return;
  }
  recorded_ =
      std::make_unique<RecordedReplay>(simulation, std::move(options.progress));
  LOOKASIDE_CHECK(recorded_->Add().ok());
}

Replayer::Replayer(const Replayer& other, Simulation& clone)
    : recorded_(std::make_unique<RecordedReplay>(*other.recorded_, clone)) {}

absl::Status Replayer::Play(std::span<const TraceEvent> events,
                            std::span<const MemoryCall> calls) {
  if (recorded_) return recorded_->Play(0, events, calls);
  timed_->Feed(0, events, calls);
  return timed_->Run();
}

absl::Status Replayer::End() {
  return recorded_ ? recorded_->End() : absl::OkStatus();
}

absl::StatusOr<RunResult> Replayer::Finish(const TraceInfo& trace) {
  LOOKASIDE_RETURN_IF_ERROR(End());
  if (recorded_) return recorded_->Finish({trace});
  timed_->End(0);
  LOOKASIDE_RETURN_IF_ERROR(timed_->Run());
  return timed_->Finish({trace});
}

absl::StatusOr<RunResult> Replay(Simulation& simulation,
                                 std::span<TraceReader* const> readers,
                                 const ReplayOptions& options) {
  LOOKASIDE_CHECK(!readers.empty());
  return IsTimed(simulation.config().replay, readers)
             ? ReplayTimed(simulation, readers, options)
             : ReplayRecorded(simulation, readers, options);
}

absl::StatusOr<RunResult> Replay(Simulation& simulation, TraceReader& reader,
                                 const ReplayOptions& options) {
  TraceReader* const readers[] = {&reader};
  return Replay(simulation, readers, options);
}

}  // namespace lookaside
