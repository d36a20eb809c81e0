// SPDX-License-Identifier: Apache-2.0
//
// Flush policies that share one simulation for as long as they would decide
// the same. What a kernel does depends on a policy through its plans alone, so
// as long as every plan is the same, one simulation is the simulation of each.
//
//   FlushCandidates candidates({rules_of_ceiling_16, rules_of_ceiling_33});
//   candidates.Decide(0, request) == candidates.Decide(1, request)
#ifndef LOOKASIDE_SWEEP_FLUSH_CANDIDATES_H_
#define LOOKASIDE_SWEEP_FLUSH_CANDIDATES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lookaside/kernel/flush_policy.h"
#include "lookaside/kernel/kernel_rules.h"

namespace lookaside {

// A plan, and whether it took a look for large pages: that costs time. Only
// Linux 3.6 looks, and what it then decides depends on nothing but what it
// finds; so two that look decide the same.
struct FlushDecision {
  FlushPlan plan;
  bool looks = false;

  friend bool operator==(const FlushDecision&, const FlushDecision&) = default;
};

class FlushCandidates {
 public:
  // REQUIRES: rules that differ in the flush policy at most, of kinds that
  // differ in their plans alone (kernel/flush_policy.h).
  explicit FlushCandidates(std::span<const KernelRules> rules);

  size_t size() const { return policies_.size(); }
  const FlushPolicy& policy(size_t candidate) const {
    return *policies_[candidate];
  }

  // Asks nothing of the machine, and charges nothing.
  FlushDecision Decide(size_t candidate, const FlushRequest& request) const;
  std::vector<FlushDecision> DecideAll(const FlushRequest& request) const;

 private:
  std::vector<std::unique_ptr<FlushPolicy>> policies_;
};

// A request that the candidates decide differently.
struct Parting {
  uint64_t position = 0;                 // events of the trace before it
  std::vector<FlushDecision> decisions;  // by candidate
};

// Follows the first candidate, and notes in `partings` where others would
// not, with the position that `position` points to.
std::unique_ptr<FlushPolicy> MakeScoutPolicy(
    std::shared_ptr<const FlushCandidates> candidates,
    std::function<uint64_t()> position, std::vector<Parting>& partings);

// Follows the first of `members`, and clears `agreed` when another of them
// would not do the same.
std::unique_ptr<FlushPolicy> MakeLanePolicy(
    std::shared_ptr<const FlushCandidates> candidates,
    std::vector<size_t> members, bool& agreed);

}  // namespace lookaside

#endif  // LOOKASIDE_SWEEP_FLUSH_CANDIDATES_H_
