// SPDX-License-Identifier: Apache-2.0
//
// When a flush goes page by page and when it drops everything: the question
// that kernels have answered in so many ways. A policy says *what*; the
// version's programs say how, and RemoteFlush how it reaches others.
//
// A user's own policy is one class:
//
//   class Sixteen final : public FlushPolicy {
//     FlushPlan Plan(const FlushRequest& request) const override {
//       return {.full = request.info.all || request.info.strides() > 16};
//     }
//     std::unique_ptr<FlushPolicy> Clone() const override {
//       return std::make_unique<Sixteen>(*this);
//     }
//   };
#ifndef LOOKASIDE_KERNEL_FLUSH_POLICY_H_
#define LOOKASIDE_KERNEL_FLUSH_POLICY_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "lookaside/base/cycles.h"
#include "lookaside/kernel/flush_info.h"
#include "lookaside/kernel/kernel_rules.h"

namespace lookaside {

// What a flush costs all CPUs that take part, by page or as a whole, the
// refills that only the whole one causes included.
struct FlushPrices {
  Cycles pages;
  Cycles all;
};
inline FlushPrices NoPrices() { return {}; }

struct FlushRequest {
  FlushInfo info;
  uint64_t total_vm = 0;  // pages that the address space maps
  // Whether a large page is mapped at a 2M boundary within the range; costs a
  // walk by software each.
  absl::FunctionRef<bool()> has_large_page;
  // Whether the operation keeps its promise too if other CPUs flush later: it
  // gives pages up, or wants accesses to fault, and frees no table.
  bool may_defer = false;
  // Told by the future: no kernel can ask this (flush_prices.h).
  absl::FunctionRef<FlushPrices()> prices = NoPrices;
};

struct FlushPlan {
  bool full = false;  // everything of the address space, here and there
  // Targets answer before they flush. Never done where tables are freed.
  bool early_ack = false;
  // Others flush at their next tick or context switch (deferred_flush.h).
  // REQUIRES: the request may be deferred.
  bool defer = false;

  friend bool operator==(const FlushPlan&, const FlushPlan&) = default;
};

class FlushPolicy {
 public:
  virtual ~FlushPolicy() = default;

  // REQUIRES of the answer: full where `info.all`, which has no range.
  virtual FlushPlan Plan(const FlushRequest& request) const = 0;

  // Policies have no state: a clone answers as its original does.
  virtual std::unique_ptr<FlushPolicy> Clone() const = 0;
};

// Whether kernels of rules that differ in their flush policies and its numbers
// differ in nothing but their plans, and ask for the same flushes whatever the
// plans: they do the same as long as their plans are the same.
constexpr bool DifferInPlansAlone(const KernelRules& rules_a,
                                  const KernelRules& rules_b) {
  const FlushPolicyKind a = rules_a.policy;
  const FlushPolicyKind b = rules_b.policy;
  // What the user half is owed is limited by the ceiling, outside any plan.
  if (rules_a.flush_in_context && rules_a.ceiling != rules_b.ceiling) {
    return false;
  }
  constexpr auto kPlain = [](FlushPolicyKind kind) {
    return kind == FlushPolicyKind::kAlwaysFull ||
           kind == FlushPolicyKind::kShift ||
           kind == FlushPolicyKind::kCeiling ||
           kind == FlushPolicyKind::kNeverFull ||
           kind == FlushPolicyKind::kEarlyAck;
  };
  if (a == FlushPolicyKind::kBound) return b == a;
  return kPlain(a) && kPlain(b);
}

// The policy that the rules name.
std::unique_ptr<FlushPolicy> MakeFlushPolicy(const KernelRules& rules);

// Owns a policy; copying clones it.
class FlushPolicyHolder {
 public:
  explicit FlushPolicyHolder(std::unique_ptr<FlushPolicy> policy)
      : policy_(std::move(policy)) {}
  FlushPolicyHolder(const FlushPolicyHolder& other)
      : policy_(other.policy_->Clone()) {}
  FlushPolicyHolder(FlushPolicyHolder&&) noexcept = default;
  FlushPolicyHolder& operator=(FlushPolicyHolder other) noexcept {
    policy_ = std::move(other.policy_);
    return *this;
  }
  ~FlushPolicyHolder() = default;

  const FlushPolicy* operator->() const { return policy_.get(); }

 private:
  std::unique_ptr<FlushPolicy> policy_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FLUSH_POLICY_H_
