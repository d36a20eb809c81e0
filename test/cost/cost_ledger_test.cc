// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cost/cost_ledger.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string_view>

namespace lookaside {
namespace {

// Each kind holds a different power of ten, so that no two mistakes cancel.
CostLedger PowersOfTen() {
  CostLedger ledger;
  uint64_t power = 1;
  for (size_t i = 0; i < kCostKinds; ++i, power *= 10) {
    ledger.Add(static_cast<CostKind>(i), Cycles(power));
  }
  return ledger;
}

TEST(CostLedger, BeginsAtZero) {
  const CostLedger ledger;
  EXPECT_EQ(ledger.Total(), Cycles(0));
  for (size_t i = 0; i < kCostKinds; ++i) {
    EXPECT_EQ(ledger[static_cast<CostKind>(i)], Cycles(0));
  }
}

TEST(CostLedger, KeepsKindsApart) {
  CostLedger ledger;
  ledger.Add(CostKind::kWalk, Cycles(30));
  ledger.Add(CostKind::kWalk, Cycles(12));
  ledger.Add(CostKind::kStlb, Cycles(9));
  EXPECT_EQ(ledger[CostKind::kWalk], Cycles(42));
  EXPECT_EQ(ledger[CostKind::kStlb], Cycles(9));
  EXPECT_EQ(ledger[CostKind::kBase], Cycles(0));
}

TEST(CostLedger, TotalIsTheSumOfAllKindsButIdle) {
  static_assert(static_cast<size_t>(CostKind::kIdle) == kCostKinds - 1);
  EXPECT_EQ(PowersOfTen().Total(), Cycles(11'111'111'111'111));
}

TEST(CostLedger, AddsAndSubtractsKindByKind) {
  CostLedger sum = PowersOfTen();
  sum += PowersOfTen();
  EXPECT_EQ(sum.Total(), Cycles(22'222'222'222'222));
  EXPECT_EQ(sum[CostKind::kIdle], Cycles(200'000'000'000'000));
  sum -= PowersOfTen();
  EXPECT_EQ(sum, PowersOfTen());
  sum.Add(CostKind::kIdle, Cycles(1));
  EXPECT_NE(sum, PowersOfTen());
}

TEST(CostKind, NamesAreDistinctAndThoseOfTheResult) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kCostKinds; ++i) {
    names.insert(Name(static_cast<CostKind>(i)));
  }
  EXPECT_EQ(names.size(), kCostKinds);
  EXPECT_EQ(Name(CostKind::kBase), "base");
  EXPECT_EQ(Name(CostKind::kL1Tlb), "l1_tlb");
  EXPECT_EQ(Name(CostKind::kStlb), "stlb");
  EXPECT_EQ(Name(CostKind::kWalk), "walk");
  EXPECT_EQ(Name(CostKind::kWalkWait), "walk_wait");
  EXPECT_EQ(Name(CostKind::kDirtyAssist), "dirty_assist");
  EXPECT_EQ(Name(CostKind::kFault), "fault");
  EXPECT_EQ(Name(CostKind::kInvalidate), "invalidate");
  EXPECT_EQ(Name(CostKind::kContext), "context");
  EXPECT_EQ(Name(CostKind::kSyscall), "syscall");
  EXPECT_EQ(Name(CostKind::kFlushSend), "flush_send");
  EXPECT_EQ(Name(CostKind::kFlushWait), "flush_wait");
  EXPECT_EQ(Name(CostKind::kInterrupt), "interrupt");
  EXPECT_EQ(Name(CostKind::kLockWait), "lock_wait");
  EXPECT_EQ(Name(CostKind::kIdle), "idle");
}

}  // namespace
}  // namespace lookaside
