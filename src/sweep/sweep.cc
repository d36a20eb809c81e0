// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/sweep.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/sweep/host_threads.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {
namespace {

absl::Status CheckGrid(std::span<const Vary> varies) {
  size_t points = 1;
  for (size_t i = 0; i < varies.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (varies[j].key != varies[i].key) continue;
      return InvalidArgument("--vary {} is given twice", varies[i].key);
    }
    points *= varies[i].values.size();
    if (points > kMostSweepPoints) {
      return InvalidArgument(
          "--vary {}: the grid has more than {} points; vary fewer keys or "
          "values",
          varies[i].key, kMostSweepPoints);
    }
  }
  return absl::OkStatus();
}

// The values of point `number`: digits of it, one to a key.
std::vector<std::string> ValuesOf(std::span<const Vary> varies, size_t number) {
  std::vector<std::string> values(varies.size());
  for (size_t i = varies.size(); i-- > 0;) {
    const size_t count = varies[i].values.size();
    values[i] = varies[i].values[number % count];
    number /= count;
  }
  return values;
}

// One simulation, and the points whose results it gives.
struct Lane {
  std::vector<size_t> points;
  std::unique_ptr<Simulation> simulation;
  std::unique_ptr<Replayer> replayer;
  absl::Status status;
};

// Lanes in the order of their first points.
absl::StatusOr<std::vector<Lane>> MakeLanes(std::span<const SweepPoint> points,
                                            uint64_t seed) {
  std::vector<Lane> lanes;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto same =
        std::find_if(lanes.begin(), lanes.end(), [&](const Lane& lane) {
          return points[lane.points.front()].config == points[i].config;
        });
    if (same != lanes.end()) {
      same->points.push_back(i);
      continue;
    }
    Lane lane;
    lane.points = {i};
    LOOKASIDE_ASSIGN_OR_RETURN(lane.simulation,
                               Simulation::Create(points[i].config, seed));
    lane.replayer =
        std::make_unique<Replayer>(*lane.simulation, ReplayOptions());
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

// Of the first point, in their order, that has one, with its values.
absl::Status FirstError(const std::vector<Lane>& lanes,
                        std::span<const SweepPoint> points) {
  for (const Lane& lane : lanes) {
    if (lane.status.ok()) continue;
    const std::vector<std::string>& values = points[lane.points.front()].values;
    return absl::Status(lane.status.code(), fmt::format("at the point {}: {}",
                                                        fmt::join(values, ", "),
                                                        Message(lane.status)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<SweepPoint>> MakeGrid(const LoadedConfig& base,
                                                 std::span<const Vary> varies) {
  LOOKASIDE_RETURN_IF_ERROR(CheckGrid(varies));
  size_t count = 1;
  for (const Vary& vary : varies) count *= vary.values.size();
  std::vector<SweepPoint> points;
  for (size_t number = 0; number < count; ++number) {
    SweepPoint point;
    point.values = ValuesOf(varies, number);
    std::vector<std::string> assignments;
    for (size_t i = 0; i < varies.size(); ++i) {
      assignments.push_back(varies[i].key + "=" + point.values[i]);
    }
    LoadedConfig loaded = base;
    LOOKASIDE_RETURN_IF_ERROR(ApplyAssignments(loaded, "--vary", assignments));
    point.config = std::move(loaded.config);
    points.push_back(std::move(point));
  }
  return points;
}

absl::StatusOr<SweepResult> RunSweep(std::span<const SweepPoint> points,
                                     TraceReader& reader,
                                     const SweepOptions& options) {
  LOOKASIDE_ASSIGN_OR_RETURN(std::vector<Lane> lanes,
                             MakeLanes(points, options.seed));
  HostThreads threads(std::max(options.jobs, 1u));
  std::vector<TraceEvent> buffer(kBufferEvents);
  uint64_t accesses = 0;
  while (const size_t n = reader.Read(buffer)) {
    const std::span<const TraceEvent> events(buffer.data(), n);
    threads.ForEach(lanes.size(), [&](size_t i) {
      lanes[i].status = lanes[i].replayer->Play(events, reader.calls());
    });
    LOOKASIDE_RETURN_IF_ERROR(FirstError(lanes, points));
    for (const TraceEvent& event : events) accesses += Accesses(event.kind);
    if (options.progress) options.progress(accesses);
  }
  SweepResult sweep;
  sweep.lanes = lanes.size();
  sweep.results.resize(points.size());
  for (const Lane& lane : lanes) {
    LOOKASIDE_ASSIGN_OR_RETURN(const RunResult result,
                               lane.replayer->Finish(reader));
    for (const size_t point : lane.points) sweep.results[point] = result;
  }
  return sweep;
}

}  // namespace lookaside
