// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/sweep.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "lookaside/base/host_threads.h"
#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/config/replay_config.h"
#include "lookaside/kernel/flush_policy.h"
#include "lookaside/kernel/kernel_config.h"
#include "lookaside/kernel/kernel_rules.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/sweep/lane_group.h"
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

// Values of a list that are spelled differently and are the same.
absl::Status CheckDistinct(std::span<const Vary> varies,
                           std::span<const SweepPoint> points) {
  size_t stride = points.size();
  for (const Vary& vary : varies) {
    stride /= vary.values.size();
    std::map<std::string, size_t> seen;  // by configuration
    for (size_t i = 0; i < vary.values.size(); ++i) {
      const auto [same, added] =
          seen.try_emplace(ConfigHash(points[i * stride].config), i);
      if (added) continue;
      return InvalidArgument("--vary {}: {} and {} are the same value",
                             vary.key, vary.values[same->second],
                             vary.values[i]);
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

// The points that may share simulations, by the candidates of a group.
struct Group {
  SimConfig config;                         // of the first point
  std::vector<KernelRules> rules;           // by candidate
  std::vector<std::vector<size_t>> points;  // by candidate
  std::optional<LaneGroup> lanes;
};

SimConfig WithoutFlushPlan(SimConfig config) {
  config.kernel.flush_policy = FlushPolicyKind::kAuto;
  config.kernel.flush_ceiling.reset();
  config.kernel.flush_shift.reset();
  return config;
}

// Whether points of the group and one of these rules and configuration differ
// in nothing but how they plan flushes.
bool MayShare(const Group& group, const SimConfig& config,
              const KernelRules& rules) {
  if (group.config == config) return true;
  return config.replay.order != ReplayOrder::kTimed &&
         DifferInPlansAlone(group.rules[0], rules) &&
         WithoutFlushPlan(group.config) == WithoutFlushPlan(config);
}

void AddToGroup(Group& group, const KernelRules& rules, size_t point) {
  const auto same = std::ranges::find(group.rules, rules);
  if (same != group.rules.end()) {
    group.points[static_cast<size_t>(same - group.rules.begin())].push_back(
        point);
    return;
  }
  group.rules.push_back(rules);
  group.points.push_back({point});
}

// In the order of their first points.
std::vector<Group> GroupPoints(std::span<const SweepPoint> points) {
  std::vector<Group> groups;
  for (size_t i = 0; i < points.size(); ++i) {
    const SimConfig& config = points[i].config;
    const KernelRules rules =
        KernelRules::From(config.kernel, config.machine, config.tlb);
    auto group = std::ranges::find_if(groups, [&](const Group& other) {
      return MayShare(other, config, rules);
    });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), Group{config, {}, {}, {}});
    }
    AddToGroup(*group, rules, i);
  }
  return groups;
}

absl::Status AtPoint(const SweepPoint& point, const absl::Status& status) {
  return absl::Status(status.code(), fmt::format("at the point {}: {}",
                                                 fmt::join(point.values, ", "),
                                                 Message(status)));
}

// Of the first point, in their order, that cannot be played, with its values.
absl::Status FirstError(const std::vector<Group>& groups,
                        std::span<const SweepPoint> points) {
  size_t first = points.size();
  absl::Status status;
  for (const Group& group : groups) {
    const auto failure = group.lanes->FirstFailure();
    if (!failure) continue;
    const size_t point = group.points[failure->candidate].front();
    if (point > first) continue;
    first = point;
    status = failure->status;
  }
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      fmt::format("at the point {}: {}", fmt::join(points[first].values, ", "),
                  Message(status)));
}

// Every lane of every group, from all host threads.
void PlayPart(std::vector<Group>& groups, const TracePart& part,
              HostThreads& threads) {
  struct Place {
    LaneGroup* group;
    size_t lane;
  };
  std::vector<Place> places;
  for (Group& group : groups) {
    for (size_t lane = 0; lane < group.lanes->lanes(); ++lane) {
      places.push_back({&*group.lanes, lane});
    }
  }
  threads.ForEach(places.size(), [&](size_t i) {
    places[i].group->PlayLane(places[i].lane, part);
  });
  threads.ForEach(groups.size(), [&](size_t i) { groups[i].lanes->Settle(); });
}

absl::StatusOr<SweepResult> Finish(std::vector<Group>& groups,
                                   std::span<const SweepPoint> points,
                                   const TraceReader& reader) {
  LOOKASIDE_RETURN_IF_ERROR(reader.status());
  const TraceInfo trace = reader.info();
  SweepResult sweep;
  sweep.results.resize(points.size());
  sweep.lanes.resize(points.size());
  size_t lanes = 0;
  for (Group& group : groups) {
    sweep.simulations += group.lanes->most_lanes();
    sweep.joins += group.lanes->joins();
    for (size_t i = 0; i < group.rules.size(); ++i) {
      LOOKASIDE_ASSIGN_OR_RETURN(const RunResult result,
                                 group.lanes->Finish(i, trace));
      for (const size_t point : group.points[i]) {
        sweep.results[point] = result;
        sweep.results[point].config = points[point].config;
        sweep.lanes[point] = lanes + group.lanes->WayOf(i);
      }
    }
    lanes += group.rules.size();
  }
  return sweep;
}

// Points of one configuration, which is replayed apart from others.
struct Apart {
  std::vector<size_t> points;
};

// In the order of their first points.
std::vector<Apart> DifferentOnes(std::span<const SweepPoint> points) {
  std::vector<Apart> apart;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto same = std::ranges::find_if(apart, [&](const Apart& other) {
      return points[other.points[0]].config == points[i].config;
    });
    if (same == apart.end()) {
      apart.push_back({{i}});
    } else {
      same->points.push_back(i);
    }
  }
  return apart;
}

absl::StatusOr<RunResult> ReplayApart(const SweepPoint& point,
                                      const TraceSource& open, uint64_t seed) {
  LOOKASIDE_ASSIGN_OR_RETURN(
      const std::vector<std::unique_ptr<TraceReader>> opened, open());
  std::vector<TraceReader*> readers;
  for (const auto& reader : opened) readers.push_back(reader.get());
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<Simulation> simulation,
                             Simulation::Create(point.config, seed));
  return Replay(*simulation, readers, {});
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
  LOOKASIDE_RETURN_IF_ERROR(CheckDistinct(varies, points));
  return points;
}

absl::StatusOr<SweepResult> RunSweep(std::span<const SweepPoint> points,
                                     TraceReader& reader,
                                     const SweepOptions& options) {
  std::vector<Group> groups = GroupPoints(points);
  for (Group& group : groups) {
    LOOKASIDE_ASSIGN_OR_RETURN(
        group.lanes,
        LaneGroup::Create(group.config, options.seed, group.rules));
  }
  HostThreads threads(std::max(options.jobs, 1u));
  std::vector<TraceEvent> buffer(kBufferEvents);
  uint64_t accesses = 0;
  TracePart part;
  while (const size_t n = reader.Read(buffer)) {
    part.events = {buffer.data(), n};
    part.calls = reader.calls();
    threads.ForEach(groups.size(),
                    [&](size_t i) { groups[i].lanes->PlayScout(part); });
    LOOKASIDE_RETURN_IF_ERROR(FirstError(groups, points));
    PlayPart(groups, part, threads);
    LOOKASIDE_RETURN_IF_ERROR(FirstError(groups, points));
    part.first += n;
    for (const TraceEvent& event : part.events) {
      accesses += Accesses(event.kind);
    }
    if (options.progress) options.progress(accesses);
  }
  return Finish(groups, points, reader);
}

absl::StatusOr<SweepResult> RunSweep(std::span<const SweepPoint> points,
                                     const TraceSource& open,
                                     const SweepOptions& options) {
  const std::vector<Apart> apart = DifferentOnes(points);
  std::vector<std::optional<absl::StatusOr<RunResult>>> results(apart.size());
  HostThreads threads(std::max(options.jobs, 1u));
  threads.ForEach(apart.size(), [&](size_t i) {
    results[i] = ReplayApart(points[apart[i].points[0]], open, options.seed);
  });
  SweepResult sweep;
  sweep.results.resize(points.size());
  sweep.lanes.resize(points.size());
  sweep.simulations = apart.size();
  for (size_t i = 0; i < apart.size(); ++i) {
    if (!results[i]->ok()) {
      return AtPoint(points[apart[i].points[0]], results[i]->status());
    }
    for (const size_t point : apart[i].points) {
      sweep.results[point] = **results[i];
      sweep.lanes[point] = i;
    }
  }
  return sweep;
}

}  // namespace lookaside
