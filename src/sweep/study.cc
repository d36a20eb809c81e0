// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/machine/topology.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {
namespace {

bool AsksOfTheKernel(std::span<const Vary> varies) {
  return std::ranges::any_of(
      varies, [](const Vary& vary) { return vary.key.starts_with("kernel."); });
}

bool Varies(std::span<const Vary> varies, std::string_view key) {
  return std::ranges::any_of(
      varies, [key](const Vary& vary) { return vary.key == key; });
}

// The yardstick of a point.
SweepPoint BoundOf(SweepPoint point) {
  point.config.kernel.flush_policy = FlushPolicyKind::kBound;
  point.config.kernel.flush_ceiling.reset();
  point.config.kernel.flush_shift.reset();
  return point;
}

bool HasOneLruLevel(const TlbHierarchyConfig& tlb) {
  return tlb.inclusion == TlbInclusion::kNone &&
         std::ranges::all_of(tlb.arrays, [](const TlbConfig& array) {
           return array.entries == 0 ||
                  (array.level == 1 &&
                   array.replacement == TlbReplacement::kLru);
         });
}

// Whether no core held translations of two threads, processes or halves.
bool HasOneTagPerCore(const RunResult& result) {
  const Topology topology(result.config.machine);
  std::set<CoreId> cores;
  for (const UsedCpu& used : result.cpus) {
    if (!cores.insert(topology.CoreOf(used.cpu)).second) return false;
  }
  uint64_t processes = 0;
  for (const TraceInfo& trace : result.traces) {
    processes += std::max<uint64_t>(trace.processes, 1);
  }
  return processes <= 1 && !result.config.kernel.kpti;
}

PolicyBound MakeBound(const RunResult& result) {
  const bool proven = result.threads.empty() &&  // recorded order
                      HasOneLruLevel(result.config.tlb) &&
                      HasOneTagPerCore(result) &&
                      result.config.cost.refill.has_value();
  return {.cycles = result.totals.cycles.Total(), .proven = proven};
}

// Points to be run in one pass, and where each came from.
class Plan {
 public:
  // Where the points begin.
  size_t Add(std::vector<SweepPoint> points) {
    const size_t first = points_.size();
    std::ranges::move(points, std::back_inserter(points_));
    return first;
  }
  std::span<const SweepPoint> points() const { return points_; }

 private:
  std::vector<SweepPoint> points_;
};

std::vector<RunResult> Take(std::vector<RunResult>& results, size_t first,
                            size_t count) {
  const auto begin = results.begin() + static_cast<std::ptrdiff_t>(first);
  return {std::make_move_iterator(begin),
          std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(count))};
}

struct PlannedEnd {
  std::string key;
  std::string value;
  size_t first = 0;
};

absl::StatusOr<std::vector<PlannedEnd>> PlanEnds(const LoadedConfig& base,
                                                 std::span<const Vary> varies,
                                                 Plan& plan) {
  std::vector<PlannedEnd> ends;
  for (const UnsureKey& unsure : kUnsureKeys) {
    if (Varies(varies, unsure.key)) continue;
    for (const std::string_view value : {unsure.low, unsure.high}) {
      LoadedConfig at_end = base;
      const std::string assignment = fmt::format("{}={}", unsure.key, value);
      LOOKASIDE_RETURN_IF_ERROR(
          ApplyAssignments(at_end, "--set", {&assignment, 1}));
      LOOKASIDE_ASSIGN_OR_RETURN(std::vector<SweepPoint> points,
                                 MakeGrid(at_end, varies));
      ends.push_back({std::string(unsure.key), std::string(value),
                      plan.Add(std::move(points))});
    }
  }
  return ends;
}

}  // namespace

absl::StatusOr<Study> RunStudy(const LoadedConfig& base,
                               std::span<const Vary> varies,
                               const SweepRunner& run) {
  Study study;
  LOOKASIDE_ASSIGN_OR_RETURN(study.points, MakeGrid(base, varies));
  const size_t count = study.points.size();
  Plan plan;
  plan.Add(study.points);
  std::optional<size_t> first_bound;
  std::vector<PlannedEnd> ends;
  if (AsksOfTheKernel(varies)) {
    std::vector<SweepPoint> bounds;
    std::ranges::transform(study.points, std::back_inserter(bounds), BoundOf);
    first_bound = plan.Add(std::move(bounds));
    LOOKASIDE_ASSIGN_OR_RETURN(ends, PlanEnds(base, varies, plan));
  }
  LOOKASIDE_ASSIGN_OR_RETURN(study.sweep, run(plan.points()));
  std::vector<RunResult> all = std::move(study.sweep.results);
  if (first_bound) {
    for (size_t i = 0; i < count; ++i) {
      study.bounds.push_back(MakeBound(all[*first_bound + i]));
    }
  }
  for (const PlannedEnd& end : ends) {
    study.ends.push_back({end.key, end.value, Take(all, end.first, count)});
  }
  study.sweep.results = Take(all, 0, count);
  study.sweep.lanes.resize(count);
  return study;
}

}  // namespace lookaside
