// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/flush_policy.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

FlushInfo Pages(uint64_t pages, uint8_t flags = 0) {
  FlushInfo info;
  info.start = VirtPage(100);
  info.end = VirtPage(100 + pages);
  info.vm_flags = flags;
  return info;
}

FlushInfo All() {
  FlushInfo info;
  info.all = true;
  return info;
}

class PolicyTest : public testing::Test {
 protected:
  void Use(FlushPolicyKind kind) {
    rules_.policy = kind;
    policy_ = MakeFlushPolicy(rules_);
  }
  bool Full(const FlushInfo& info, uint64_t total_vm = 1'000'000,
            bool large = false) {
    probed_ = false;
    const auto has_large_page = [&] {
      probed_ = true;
      return large;
    };
    return policy_->Plan({info, total_vm, has_large_page}).full;
  }

  KernelRules rules_;
  std::unique_ptr<FlushPolicy> policy_;
  bool probed_ = false;
};

TEST_F(PolicyTest, AlwaysAndNever) {
  Use(FlushPolicyKind::kAlwaysFull);
  EXPECT_TRUE(Full(Pages(1)));
  Use(FlushPolicyKind::kNeverFull);
  EXPECT_FALSE(Full(Pages(100'000)));
  EXPECT_TRUE(Full(All()));
}

TEST_F(PolicyTest, TheCeilingIsTheMostThatGoesPageByPage) {
  Use(FlushPolicyKind::kCeiling);
  EXPECT_FALSE(Full(Pages(33)));
  EXPECT_TRUE(Full(Pages(34)));
  EXPECT_TRUE(Full(All()));
  rules_.ceiling = 0;
  Use(FlushPolicyKind::kCeiling);
  EXPECT_TRUE(Full(Pages(1)));
}

TEST_F(PolicyTest, TheCeilingCountsStrides) {
  Use(FlushPolicyKind::kCeiling);
  FlushInfo info = Pages(33 * 512);
  info.stride_order = 9;
  EXPECT_FALSE(Full(info));
  info.end = VirtPage(info.end.value() + 1);
  EXPECT_TRUE(Full(info));
}

TEST_F(PolicyTest, HugetlbIsFullBelowTheCeilingToo) {
  Use(FlushPolicyKind::kCeiling);
  EXPECT_TRUE(Full(Pages(1, FlushInfo::kHugetlb)));
}

TEST_F(PolicyTest, EarlyAckIsNotForTables) {
  Use(FlushPolicyKind::kEarlyAck);
  const auto no = [] { return false; };
  FlushInfo info = Pages(1);
  EXPECT_TRUE(policy_->Plan({info, 10, no}).early_ack);
  info.freed_tables = true;
  EXPECT_FALSE(policy_->Plan({info, 10, no}).early_ack);
}

// The rule of 3.6 in its order, on a processor with 512 entries and shift 6.
class ShiftTest : public PolicyTest {
 protected:
  ShiftTest() {
    rules_.shift = 6;
    rules_.entries = {.data = 512, .inst = 128};
    Use(FlushPolicyKind::kShift);
  }
};

TEST_F(ShiftTest, ABenchmarksEightPagesAreExactlyAtTheThreshold) {
  EXPECT_FALSE(Full(Pages(8)));
  EXPECT_TRUE(Full(Pages(9)));
}

TEST_F(ShiftTest, AShiftOfMinusOneIsAlwaysFull) {
  rules_.shift = -1;
  Use(FlushPolicyKind::kShift);
  EXPECT_TRUE(Full(Pages(1)));
}

TEST_F(ShiftTest, ExecutableRangesAskForTheInstructionEntries) {
  EXPECT_FALSE(Full(Pages(2, FlushInfo::kExec)));
  EXPECT_TRUE(Full(Pages(3, FlushInfo::kExec)));
}

TEST_F(ShiftTest, HugetlbIsComparedNotTested) {
  EXPECT_TRUE(Full(Pages(1, FlushInfo::kHugetlb)));
  EXPECT_FALSE(Full(Pages(1, FlushInfo::kHugetlb | FlushInfo::kExec)));
}

TEST_F(ShiftTest, ASmallTaskOwnsFewEntries) {
  EXPECT_FALSE(Full(Pages(2), /*total_vm=*/128));
  EXPECT_TRUE(Full(Pages(3), /*total_vm=*/128));
  EXPECT_TRUE(Full(Pages(1), /*total_vm=*/63));
}

TEST_F(ShiftTest, ALargePageWithinMakesItFullAndIsLookedForLast) {
  EXPECT_TRUE(Full(Pages(8), 1'000'000, /*large=*/true));
  EXPECT_TRUE(probed_);
  EXPECT_TRUE(Full(Pages(9), 1'000'000, /*large=*/true));
  EXPECT_FALSE(probed_);
}

TEST_F(ShiftTest, TheFirstPostingsSixteenthIsShiftFour) {
  rules_.shift = 4;
  Use(FlushPolicyKind::kShift);
  EXPECT_FALSE(Full(Pages(32)));
  EXPECT_TRUE(Full(Pages(33)));
}

TEST(FlushPolicyHolderTest, CopiesAnswerAsTheirOriginal) {
  KernelRules rules;
  rules.policy = FlushPolicyKind::kCeiling;
  rules.ceiling = 2;
  const FlushPolicyHolder original(MakeFlushPolicy(rules));
  const FlushPolicyHolder copy = original;
  const auto no = [] { return false; };
  EXPECT_TRUE(copy->Plan({Pages(3), 10, no}).full);
  EXPECT_FALSE(copy->Plan({Pages(2), 10, no}).full);
}

}  // namespace
}  // namespace lookaside
