// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/flush_policy.h"

#include <algorithm>

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

bool MustBeFull(const FlushInfo& info) {
  return info.all || (info.vm_flags & FlushInfo::kHugetlb) != 0;
}

// Linux up to 3.5, where flush_tlb_page alone goes another way.
class AlwaysFull final : public FlushPolicy {
 public:
  FlushPlan Plan(const FlushRequest&) const override { return {.full = true}; }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<AlwaysFull>(*this);
  }
};

// Page by page, however many there are.
class NeverFull final : public FlushPolicy {
 public:
  FlushPlan Plan(const FlushRequest& request) const override {
    return {.full = request.info.all};
  }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<NeverFull>(*this);
  }
};

// Dave Hansen's, Linux 3.17 on: at most `ceiling` pages go one by one. What
// others do meanwhile, early_ack and latr put off.
class Ceiling final : public FlushPolicy {
 public:
  Ceiling(uint32_t ceiling, FlushPolicyKind kind)
      : ceiling_(ceiling), kind_(kind) {}

  FlushPlan Plan(const FlushRequest& request) const override {
    const FlushInfo& info = request.info;
    return {
        .full = MustBeFull(info) || info.strides() > ceiling_,
        .early_ack = kind_ == FlushPolicyKind::kEarlyAck && !info.freed_tables,
        .defer = kind_ == FlushPolicyKind::kLatr && request.may_defer};
  }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<Ceiling>(*this);
  }

 private:
  uint32_t ceiling_;
  FlushPolicyKind kind_;
};

// Alex Shi's, Linux 3.6 to 3.13, in the order of its tests: the task is taken
// to own as much of the TLB as it can fill, and more than that >> shift pages
// are not worth their INVLPGs; nor is anything with a large page in it.
class Shift final : public FlushPolicy {
 public:
  Shift(int shift, const LastLevelEntries& entries)
      : shift_(shift), entries_(entries) {}

  FlushPlan Plan(const FlushRequest& request) const override {
    return {.full = IsFull(request)};
  }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<Shift>(*this);
  }

 private:
  bool IsFull(const FlushRequest& request) const {
    const FlushInfo& info = request.info;
    // The kernel compares all flags with VM_HUGETLB: executable ones differ.
    if (info.all || shift_ < 0 || info.vm_flags == FlushInfo::kHugetlb) {
      return true;
    }
    const bool exec = (info.vm_flags & FlushInfo::kExec) != 0;
    const uint64_t entries = exec ? entries_.inst : entries_.data;
    const uint64_t active = std::min(request.total_vm, entries);
    if (info.pages() > active >> shift_) return true;
    return request.has_large_page();
  }

  int shift_;
  LastLevelEntries entries_;
};

// Full where that is cheaper, as far as the future is known: a greedy, which
// leaves out what one flush changes in the next.
class Clairvoyant final : public FlushPolicy {
 public:
  FlushPlan Plan(const FlushRequest& request) const override {
    if (MustBeFull(request.info)) return {.full = true};
    const FlushPrices prices = request.prices();
    return {.full = prices.all < prices.pages};
  }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<Clairvoyant>(*this);
  }
};

}  // namespace

std::unique_ptr<FlushPolicy> MakeFlushPolicy(const KernelRules& rules) {
  switch (rules.policy) {
    case FlushPolicyKind::kAuto:
      break;
    case FlushPolicyKind::kAlwaysFull:
      return std::make_unique<AlwaysFull>();
    case FlushPolicyKind::kShift:
      return std::make_unique<Shift>(rules.shift, rules.entries);
    case FlushPolicyKind::kNeverFull:
    case FlushPolicyKind::kBound:  // which differs in what it is charged
      return std::make_unique<NeverFull>();
    case FlushPolicyKind::kClairvoyant:
      return std::make_unique<Clairvoyant>();
    case FlushPolicyKind::kCeiling:
    case FlushPolicyKind::kEarlyAck:
    case FlushPolicyKind::kAbis:
    case FlushPolicyKind::kLatr:
      return std::make_unique<Ceiling>(rules.ceiling, rules.policy);
  }
  LOOKASIDE_CHECK(false);
  return nullptr;
}

}  // namespace lookaside
