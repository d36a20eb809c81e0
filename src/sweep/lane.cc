// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/lane.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

const CpuResult* Find(const RunResult& result, CpuId cpu) {
  for (const UsedCpu& used : result.cpus) {
    if (used.cpu == cpu) return &used.result;
  }
  return nullptr;
}

// All cycles but kIdle are known; idle is what the clock has beside them.
void SetIdle(CpuResult& result) {
  CostLedger idle;
  idle.Add(CostKind::kIdle, result.cycles[CostKind::kIdle]);
  result.cycles -= idle;
  result.cycles.Add(CostKind::kIdle, result.elapsed - result.cycles.Total());
}

Cycles Shifted(Cycles time, int64_t shift) {
  return Cycles(time.value() + static_cast<uint64_t>(shift));
}

// What a member has counted on one hardware thread: `own` when it joined a
// lane that had counted `then` and has counted `now`.
CpuResult Counted(const CpuResult& own, const CpuResult& then,
                  const CpuResult& now, int64_t shift) {
  CpuResult result = now;
  result -= then;
  result += own;
  result.elapsed = now == then ? own.elapsed : Shifted(now.elapsed, shift);
  SetIdle(result);
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Lane>> Lane::Create(
    const SimConfig& config, uint64_t seed, Candidates candidates,
    std::vector<size_t> members) {
  LOOKASIDE_CHECK(!members.empty());
  std::unique_ptr<Lane> lane(new Lane(std::move(candidates)));
  for (const size_t member : members) {
    lane->members_.emplace_back().candidate = member;
  }
  LOOKASIDE_ASSIGN_OR_RETURN(lane->simulation_,
                             Simulation::Create(config, seed));
  lane->replayer_ =
      std::make_unique<Replayer>(*lane->simulation_, ReplayOptions());
  lane->FollowMembers();
  return lane;
}

std::vector<size_t> Lane::members() const {
  std::vector<size_t> candidates;
  for (const Member& member : members_) candidates.push_back(member.candidate);
  return candidates;
}

bool Lane::Has(size_t candidate) const {
  return std::ranges::any_of(members_, [candidate](const Member& member) {
    return member.candidate == candidate;
  });
}

void Lane::FollowMembers() {
  simulation_->SetFlushPolicy(MakeLanePolicy(candidates_, members(), agreed_));
}

void Lane::Scout(std::vector<Parting>& partings) {
  LOOKASIDE_CHECK(members_.size() == 1 && members_[0].candidate == 0);
  const auto position = [this] { return replayer_->recorded()->position(); };
  simulation_->SetFlushPolicy(MakeScoutPolicy(candidates_, position, partings));
}

void Lane::Play(std::span<const TraceEvent> events,
                std::span<const MemoryCall> calls) {
  status_ = replayer_->Play(events, calls);
  if (agreed_ || !status_.ok()) return;
  status_ = absl::InternalError(
      "flushes here differ between points that were taken to flush alike; "
      "give each point a sweep of its own");
}

std::unique_ptr<Lane> Lane::Split(std::span<const size_t> members) {
  std::unique_ptr<Lane> split(new Lane(candidates_));
  const auto leaves = [&](const Member& member) {
    return std::ranges::find(members, member.candidate) != members.end();
  };
  std::ranges::copy_if(members_, std::back_inserter(split->members_), leaves);
  std::erase_if(members_, leaves);
  LOOKASIDE_CHECK(split->members_.size() == members.size());
  LOOKASIDE_CHECK(!members_.empty());
  split->simulation_ = simulation_->Clone();
  split->replayer_ =
      std::make_unique<Replayer>(*replayer_, *split->simulation_);
  split->FollowMembers();
  FollowMembers();
  return split;
}

// Examples of violations tell ages, which joining would change.
std::optional<Fingerprint> Lane::Future() const {
  const bool fixed = simulation_->config().kernel.unfixed.empty();
  if (replayer_->recorded() == nullptr) return std::nullopt;
  const bool violated = simulation_->machine().checks().violations() > 0;
  if (replayer_->recorded()->warming_up() || !fixed || violated)
    return std::nullopt;
  return simulation_->Digest(replayer_->recorded()->preceding_start());
}

void Lane::Join(Lane&& other) {
  const auto origin =
      static_cast<int64_t>(replayer_->recorded()->preceding_start().value());
  const auto others = static_cast<int64_t>(
      other.replayer_->recorded()->preceding_start().value());
  const RunResult lanes = simulation_->Results();
  for (Member& member : other.members_) {
    RunResult own = other.Counted(member);
    member.warm = other.WarmOf(member);
    member.own = std::move(own);
    member.lanes = lanes;
    member.shift += others - origin;
    members_.push_back(std::move(member));
  }
  other.members_.clear();
  FollowMembers();
}

RunResult Lane::Counted(const Member& member) const {
  RunResult now = simulation_->Results();
  if (!member.own) return now;
  CpuResult none;
  none.counters = CpuCounters(now.totals.counters.tlb.size());
  CpuResult totals = none;
  for (UsedCpu& used : now.cpus) {
    const CpuResult* own = Find(*member.own, used.cpu);
    const CpuResult* then = Find(member.lanes, used.cpu);
    used.result = lookaside::Counted(own ? *own : none, then ? *then : none,
                                     used.result, member.shift);
    totals += used.result;
  }
  now.totals = totals;
  return now;
}

const std::optional<RunResult>& Lane::WarmOf(const Member& member) const {
  return member.own ? member.warm : replayer_->recorded()->warm();
}

absl::StatusOr<RunResult> Lane::Finish(size_t candidate,
                                       const TraceInfo& trace) {
  const RecordedReplay* const recorded = replayer_->recorded();
  if (recorded == nullptr) return replayer_->Finish(trace);
  LOOKASIDE_RETURN_IF_ERROR(replayer_->End());
  const auto member = std::ranges::find_if(
      members_,
      [candidate](const Member& m) { return m.candidate == candidate; });
  LOOKASIDE_CHECK(member != members_.end());
  return recorded->Finish({trace}, Counted(*member), WarmOf(*member));
}

}  // namespace lookaside
