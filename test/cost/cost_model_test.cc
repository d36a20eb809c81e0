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
  config.ipi_send = {11, CostUnit::kNanoseconds};
  config.ipi_handler = {12, CostUnit::kNanoseconds};
  config.ipi_latency_core = {13, CostUnit::kNanoseconds};
  config.ipi_latency_socket = {14, CostUnit::kNanoseconds};
  config.ipi_latency_remote = {15, CostUnit::kNanoseconds};
  config.ipi_wake = {16, CostUnit::kNanoseconds};
  config.ack_core = {17, CostUnit::kNanoseconds};
  config.ack_socket = {18, CostUnit::kNanoseconds};
  config.ack_remote = {19, CostUnit::kNanoseconds};
  config.syscall = {20, CostUnit::kNanoseconds};
  config.vma = {21, CostUnit::kNanoseconds};
  config.pte = {22, CostUnit::kNanoseconds};
  config.page_free = {23, CostUnit::kNanoseconds};
  config.page_copy = {24, CostUnit::kNanoseconds};
  config.major_fault = {25, CostUnit::kNanoseconds};
  config.context_switch = {26, CostUnit::kNanoseconds};
  config.page_clear = {27, CostUnit::kNanoseconds};
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
  EXPECT_EQ(model.ipi_send, Cycles(22));
  EXPECT_EQ(model.ipi_handler, Cycles(24));
  EXPECT_EQ(model.ipi_latency_core, Cycles(26));
  EXPECT_EQ(model.ipi_latency_socket, Cycles(28));
  EXPECT_EQ(model.ipi_latency_remote, Cycles(30));
  EXPECT_EQ(model.ipi_wake, Cycles(32));
  EXPECT_EQ(model.ack_core, Cycles(34));
  EXPECT_EQ(model.ack_socket, Cycles(36));
  EXPECT_EQ(model.ack_remote, Cycles(38));
  EXPECT_EQ(model.syscall, Cycles(40));
  EXPECT_EQ(model.vma, Cycles(42));
  EXPECT_EQ(model.pte, Cycles(44));
  EXPECT_EQ(model.page_free, Cycles(46));
  EXPECT_EQ(model.page_copy, Cycles(48));
  EXPECT_EQ(model.major_fault, Cycles(50));
  EXPECT_EQ(model.context_switch, Cycles(52));
  EXPECT_EQ(model.page_clear, Cycles(54));
}

}  // namespace
}  // namespace lookaside
