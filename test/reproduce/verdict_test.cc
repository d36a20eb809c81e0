// SPDX-License-Identifier: Apache-2.0
#include "lookaside/reproduce/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace lookaside {
namespace {

// The experiment measures its own inputs.
Card Mirror(std::function<bool(const Measured&)> holds) {
  return {.id = "X",
          .title = "mirror",
          .source = "none",
          .inputs = {{"a", 50, 0, 99}, {"b", 50, 0, 99}},
          .figures = {{"figure", "published",
                       [](const Measured& m) { return std::to_string(m[0]); },
                       std::move(holds)}},
          .simulate = [](const std::vector<uint64_t>& values,
                         uint64_t) -> absl::StatusOr<Measured> {
            return Measured(values.begin(), values.end());
          }};
}

JudgedFigure JudgedOf(std::function<bool(const Measured&)> holds) {
  return Judge(Mirror(std::move(holds)), {.seed = 3}).value().figures.front();
}

TEST(Verdict, WhatHoldsNearlyEverywhereIsRobust) {
  EXPECT_EQ(JudgedOf([](const Measured&) { return true; }).verdict,
            Verdict::kRobust);
  const auto judged = JudgedOf([](const Measured& m) { return m[0] >= 5; });
  EXPECT_EQ(judged.verdict, Verdict::kRobust);
  EXPECT_GT(judged.held, 180u);
  EXPECT_LT(judged.held, 200u);
}

TEST(Verdict, WhatHoldsInPartDependsOnTheInputThatDecides) {
  const auto a = JudgedOf([](const Measured& m) { return m[0] > 60; });
  EXPECT_EQ(a.verdict, Verdict::kDepends);
  EXPECT_EQ(a.depends_on, "a");
  const auto b = JudgedOf([](const Measured& m) { return m[1] < 60; });
  EXPECT_EQ(b.verdict, Verdict::kDepends);
  EXPECT_EQ(b.depends_on, "b");
}

TEST(Verdict, WhatHoldsHardlyAnywhereIsAMiss) {
  EXPECT_EQ(JudgedOf([](const Measured&) { return false; }).verdict,
            Verdict::kMiss);
  EXPECT_EQ(JudgedOf([](const Measured& m) { return m[0] == 50; }).verdict,
            Verdict::kMiss);
}

// Nine tenths of the draws are not enough where the defaults fail.
TEST(Verdict, WhatFailsAtTheDefaultsIsNotRobust) {
  EXPECT_EQ(JudgedOf([](const Measured& m) { return m[0] != 50; }).verdict,
            Verdict::kDepends);
}

TEST(Verdict, ARowWithoutAPredicateIsTraining) {
  EXPECT_EQ(JudgedOf(nullptr).verdict, Verdict::kTraining);
}

TEST(Verdict, DrawsStayInTheirRangesAndFollowTheSeed) {
  const Card card = Mirror(nullptr);
  EXPECT_THAT(ValuesOfDraw(card, 7, 0), testing::ElementsAre(50, 50));
  for (uint64_t draw = 1; draw <= 200; ++draw) {
    for (const uint64_t value : ValuesOfDraw(card, 7, draw)) {
      EXPECT_LE(value, 99u);
    }
    EXPECT_EQ(ValuesOfDraw(card, 7, draw), ValuesOfDraw(card, 7, draw));
  }
  EXPECT_NE(ValuesOfDraw(card, 7, 1), ValuesOfDraw(card, 8, 1));
}

TEST(Verdict, HostThreadsChangeNothing) {
  const Card card = Mirror([](const Measured& m) { return m[0] > m[1]; });
  const JudgedCard one = Judge(card, {.jobs = 1}).value();
  const JudgedCard four = Judge(card, {.jobs = 4}).value();
  EXPECT_EQ(one.figures[0].held, four.figures[0].held);
  EXPECT_EQ(one.figures[0].depends_on, four.figures[0].depends_on);
}

TEST(Verdict, AnErrorOfTheSimulationIsTheAnswer) {
  Card card = Mirror(nullptr);
  card.simulate = [](const std::vector<uint64_t>&,
                     uint64_t) -> absl::StatusOr<Measured> {
    return absl::InvalidArgumentError("no");
  };
  EXPECT_FALSE(Judge(card, {}).ok());
}

}  // namespace
}  // namespace lookaside
