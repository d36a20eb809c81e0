// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/flush_candidates.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

class ScoutPolicy final : public FlushPolicy {
 public:
  ScoutPolicy(std::shared_ptr<const FlushCandidates> candidates,
              std::function<uint64_t()> position,
              std::vector<Parting>& partings)
      : candidates_(std::move(candidates)),
        position_(std::move(position)),
        partings_(&partings) {}

  FlushPlan Plan(const FlushRequest& request) const override {
    std::vector<FlushDecision> decisions = candidates_->DecideAll(request);
    const bool agreed = std::ranges::all_of(
        decisions, [&](const FlushDecision& d) { return d == decisions[0]; });
    if (!agreed) partings_->push_back({position_(), std::move(decisions)});
    return candidates_->policy(0).Plan(request);
  }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<ScoutPolicy>(*this);
  }

 private:
  std::shared_ptr<const FlushCandidates> candidates_;
  std::function<uint64_t()> position_;
  std::vector<Parting>* partings_;
};

class LanePolicy final : public FlushPolicy {
 public:
  LanePolicy(std::shared_ptr<const FlushCandidates> candidates,
             std::vector<size_t> members, bool& agreed)
      : candidates_(std::move(candidates)),
        members_(std::move(members)),
        agreed_(&agreed) {}

  FlushPlan Plan(const FlushRequest& request) const override {
    const FlushDecision first = candidates_->Decide(members_[0], request);
    for (size_t i = 1; i < members_.size(); ++i) {
      if (candidates_->Decide(members_[i], request) != first) *agreed_ = false;
    }
    return candidates_->policy(members_[0]).Plan(request);
  }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<LanePolicy>(*this);
  }

 private:
  std::shared_ptr<const FlushCandidates> candidates_;
  std::vector<size_t> members_;
  bool* agreed_;
};

}  // namespace

FlushCandidates::FlushCandidates(std::span<const KernelRules> rules) {
  for (const KernelRules& one : rules) {
    LOOKASIDE_CHECK(rules.size() == 1 || DifferInPlansAlone(rules[0], one));
    policies_.push_back(MakeFlushPolicy(one));
  }
}

FlushDecision FlushCandidates::Decide(size_t candidate,
                                      const FlushRequest& request) const {
  FlushDecision decision;
  const auto looks = [&decision] {
    decision.looks = true;
    return false;
  };
  decision.plan = policies_[candidate]->Plan({.info = request.info,
                                              .total_vm = request.total_vm,
                                              .has_large_page = looks});
  return decision;
}

std::vector<FlushDecision> FlushCandidates::DecideAll(
    const FlushRequest& request) const {
  std::vector<FlushDecision> decisions;
  decisions.reserve(size());
  for (size_t i = 0; i < size(); ++i) decisions.push_back(Decide(i, request));
  return decisions;
}

std::unique_ptr<FlushPolicy> MakeScoutPolicy(
    std::shared_ptr<const FlushCandidates> candidates,
    std::function<uint64_t()> position, std::vector<Parting>& partings) {
  return std::make_unique<ScoutPolicy>(std::move(candidates),
                                       std::move(position), partings);
}

std::unique_ptr<FlushPolicy> MakeLanePolicy(
    std::shared_ptr<const FlushCandidates> candidates,
    std::vector<size_t> members, bool& agreed) {
  LOOKASIDE_CHECK(!members.empty());
  return std::make_unique<LanePolicy>(std::move(candidates), std::move(members),
                                      agreed);
}

}  // namespace lookaside
