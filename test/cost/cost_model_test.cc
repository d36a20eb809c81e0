// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cost/cost_model.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

TEST(CostAmount, CyclesStayAndNanosecondsBecomeCyclesOfTheClock) {
  EXPECT_EQ((CostAmount{100, CostUnit::kCycles}).InCycles(2666), Cycles(100));
  EXPECT_EQ((CostAmount{100, CostUnit::kNanoseconds}).InCycles(2666),
            Cycles(267));
}

TEST(CostModel, AnInstructionCostsOneCycleAndNothingElseAnythingByDefault) {
  const CostModel model = CostModel::From(CostConfig(), 2000);
  EXPECT_EQ(model.instruction, Cycles(1));
  EXPECT_EQ(model.refill, std::nullopt);
  EXPECT_EQ(model.dirty_assist + model.fault_entry + model.minor_fault +
                model.invlpg + model.invpcid + model.cr3_flush +
                model.cr3_noflush + model.cr4_pge,
            Cycles(0));
}

TEST(CostModel, EveryAmountReachesItsOwnField) {
  CostConfig config;
  config.instruction = {1, CostUnit::kNanoseconds};
  config.refill = CostAmount{2, CostUnit::kNanoseconds};
  config.dirty_assist = {3, CostUnit::kNanoseconds};
  config.fault_entry = {4, CostUnit::kNanoseconds};
  config.minor_fault = {5, CostUnit::kNanoseconds};
  config.invlpg = {6, CostUnit::kNanoseconds};
  config.invpcid = {7, CostUnit::kNanoseconds};
  config.cr3_flush = {8, CostUnit::kNanoseconds};
  config.cr3_noflush = {9, CostUnit::kCycles};
  config.cr4_pge = {10, CostUnit::kNanoseconds};
  const CostModel model = CostModel::From(config, 2000);
  EXPECT_EQ(model.instruction, Cycles(2));
  EXPECT_EQ(model.refill, Cycles(4));
  EXPECT_EQ(model.dirty_assist, Cycles(6));
  EXPECT_EQ(model.fault_entry, Cycles(8));
  EXPECT_EQ(model.minor_fault, Cycles(10));
  EXPECT_EQ(model.invlpg, Cycles(12));
  EXPECT_EQ(model.invpcid, Cycles(14));
  EXPECT_EQ(model.cr3_flush, Cycles(16));
  EXPECT_EQ(model.cr3_noflush, Cycles(9));
  EXPECT_EQ(model.cr4_pge, Cycles(20));
}

}  // namespace
}  // namespace lookaside
