// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/lane_group.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

// Parts of the members that decide alike at all of `partings`, in the order of
// their first members.
std::vector<std::vector<size_t>> PartsOf(const std::vector<size_t>& members,
                                         std::span<const Parting> partings) {
  std::vector<std::vector<size_t>> parts;
  const auto alike = [&](size_t a, size_t b) {
    return std::ranges::all_of(partings, [&](const Parting& parting) {
      return parting.decisions[a] == parting.decisions[b];
    });
  };
  for (const size_t member : members) {
    const auto part = std::ranges::find_if(parts, [&](const auto& others) {
      return alike(others.front(), member);
    });
    if (part == parts.end()) {
      parts.push_back({member});
    } else {
      part->push_back(member);
    }
  }
  return parts;
}

// The leading ones that belong to one event.
std::span<const Parting> OfOneEvent(std::span<const Parting> partings) {
  size_t n = 1;
  while (n < partings.size() && partings[n].position == partings[0].position) {
    ++n;
  }
  return partings.first(n);
}

void PlayTo(Lane& lane, uint64_t position, const TracePart& part) {
  const uint64_t from = lane.position() - part.first;
  const uint64_t to = position - part.first;
  lane.Play(part.events.subspan(from, to - from), part.calls);
}

// Plays the rest of the part, `partings` being those that are left, and adds
// the lanes that split off.
void PlayOn(Lane& lane, const TracePart& part,
            std::span<const Parting> partings,
            std::vector<std::unique_ptr<Lane>>& split_off) {
  while (!partings.empty()) {
    const std::span<const Parting> here = OfOneEvent(partings);
    const auto parts = PartsOf(lane.members(), here);
    partings = partings.subspan(here.size());
    if (parts.size() == 1) continue;
    PlayTo(lane, here[0].position, part);
    if (!lane.status().ok()) return;
    for (size_t i = 1; i < parts.size(); ++i) {
      split_off.push_back(lane.Split(parts[i]));
      PlayOn(*split_off.back(), part, partings, split_off);
    }
  }
  PlayTo(lane, part.first + part.events.size(), part);
}

}  // namespace

absl::StatusOr<LaneGroup> LaneGroup::Create(
    const SimConfig& config, uint64_t seed,
    std::span<const KernelRules> rules) {
  LaneGroup group;
  const auto candidates = std::make_shared<const FlushCandidates>(rules);
  group.way_.resize(rules.size());
  group.partings_ = std::make_unique<std::vector<Parting>>();
  LOOKASIDE_ASSIGN_OR_RETURN(group.scout_,
                             Lane::Create(config, seed, candidates, {0}));
  group.most_lanes_ = 1;
  if (rules.size() == 1) return group;
  group.scout_->Scout(*group.partings_);
  std::vector<size_t> others(rules.size() - 1);
  std::iota(others.begin(), others.end(), size_t{1});
  LOOKASIDE_ASSIGN_OR_RETURN(
      std::unique_ptr<Lane> lane,
      Lane::Create(config, seed, candidates, std::move(others)));
  group.lanes_.push_back(std::move(lane));
  group.split_off_.resize(1);
  group.most_lanes_ = 2;
  return group;
}

void LaneGroup::PlayScout(const TracePart& part) {
  partings_->clear();
  scout_->Play(part.events, part.calls);
  NoteWays();
}

void LaneGroup::NoteWays() {
  if (partings_->empty()) return;
  std::vector<size_t> all(way_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::map<std::pair<size_t, size_t>, size_t> ways;
  const auto parts = PartsOf(all, *partings_);
  for (size_t part = 0; part < parts.size(); ++part) {
    for (const size_t candidate : parts[part]) {
      way_[candidate] =
          ways.try_emplace({way_[candidate], part}, ways.size()).first->second;
    }
  }
}

void LaneGroup::PlayLane(size_t lane, const TracePart& part) {
  PlayOn(*lanes_[lane], part, *partings_, split_off_[lane]);
}

std::optional<LaneGroup::Failure> LaneGroup::FirstFailure() const {
  if (!scout_->status().ok()) return Failure{0, scout_->status()};
  std::optional<Failure> first;
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if (lane->status().ok()) continue;
    const size_t candidate = lane->members().front();
    if (first && first->candidate < candidate) continue;
    first = Failure{candidate, lane->status()};
  }
  return first;
}

void LaneGroup::Settle() {
  ++parts_since_change_;
  for (Lanes& split_off : split_off_) {
    if (!split_off.empty()) parts_since_change_ = 0;
    for (std::unique_ptr<Lane>& lane : split_off) {
      lanes_.push_back(std::move(lane));
    }
  }
  most_lanes_ = std::max(most_lanes_, lanes_.size() + 1);
  // Looking costs as much as playing a part: less and less often.
  if (std::has_single_bit(parts_since_change_)) JoinLanes();
  split_off_.clear();
  split_off_.resize(lanes_.size());
}

void LaneGroup::JoinLanes() {
  if (lanes_.size() < 2) return;
  std::map<Fingerprint, Lane*> futures;
  std::erase_if(lanes_, [&](std::unique_ptr<Lane>& lane) {
    const std::optional<Fingerprint> future = lane->Future();
    if (!future) return false;
    const auto [same, first] = futures.try_emplace(*future, lane.get());
    if (first) return false;
    same->second->Join(std::move(*lane));
    ++joins_;
    return true;
  });
}

absl::StatusOr<RunResult> LaneGroup::Finish(size_t candidate,
                                            const TraceInfo& trace) {
  if (candidate == 0) return scout_->Finish(0, trace);
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if (lane->Has(candidate)) return lane->Finish(candidate, trace);
  }
  LOOKASIDE_CHECK(false);
}

}  // namespace lookaside
