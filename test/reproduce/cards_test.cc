// SPDX-License-Identifier: Apache-2.0
#include "lookaside/reproduce/cards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/reproduce/card_c.h"

namespace lookaside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JudgedCard Judged(Verdict verdict) {
  JudgedCard card;
  card.id = "C";
  card.figures.emplace_back().name = "row";
  card.figures.back().verdict = verdict;
  return card;
}

TEST(Cards, OnlyWhatIsWorseThanRecordedFallsShort) {
  const ExpectedVerdicts expected = {{"C", {{"row", Verdict::kDepends}}}};
  const auto shortfalls = [&](Verdict verdict, bool strict) {
    const JudgedCard card = Judged(verdict);
    return Shortfalls({&card, 1}, expected, strict);
  };
  EXPECT_THAT(shortfalls(Verdict::kRobust, false), IsEmpty());
  EXPECT_THAT(shortfalls(Verdict::kDepends, true), IsEmpty());
  EXPECT_THAT(shortfalls(Verdict::kMiss, false),
              ElementsAre("C, row: miss, recorded as depends"));
  EXPECT_THAT(shortfalls(Verdict::kMiss, true), ElementsAre("C, row: miss"));
}

TEST(Cards, ARecordedMissFallsShortOnlyWhereStrict) {
  const ExpectedVerdicts expected = {{"C", {{"row", Verdict::kMiss}}}};
  const JudgedCard card = Judged(Verdict::kMiss);
  EXPECT_THAT(Shortfalls({&card, 1}, expected, false), IsEmpty());
  EXPECT_THAT(Shortfalls({&card, 1}, expected, true), testing::SizeIs(1));
}

// A figure that is renamed must be recorded anew.
TEST(Cards, WhatIsRecordedIsWhatTheCardsHave) {
  std::set<std::string> figures;
  for (const Card& card : AllCards()) {
    for (const Figure& figure : card.figures) {
      figures.insert(card.id + figure.name);
    }
  }
  std::set<std::string> recorded;
  for (const auto& [card, rows] : RecordedVerdicts()) {
    for (const auto& [row, verdict] : rows) recorded.insert(card + row);
  }
  EXPECT_EQ(recorded, figures);
}

// A verdict did not say what it rests on.
TEST(Cards, EveryFigureThatIsJudgedSaysWhatMustHold) {
  for (const Card& card : AllCards()) {
    for (const Figure& figure : card.figures) {
      EXPECT_EQ(figure.predicate.empty(), figure.holds == nullptr)
          << card.id << ", " << figure.name;
    }
  }
}

TEST(Cards, AnUnknownLetterIsTold) {
  const std::vector<std::string> unknown = {"Z"};
  EXPECT_THAT(Message(CardsOf(unknown).status()), HasSubstr("no card 'Z'"));
  const std::vector<std::string> twice = {"C", "C"};
  EXPECT_THAT(Message(CardsOf(twice).status()), HasSubstr("twice"));
}

TEST(Cards, ExpectedVerdictsThatAreNoneAreTold) {
  EXPECT_THAT(Message(ParseExpected("{\"C\": {\"row\": \"good\"}}").status()),
              HasSubstr("C, \"row\": 'good'"));
  EXPECT_FALSE(ParseExpected("[").ok());
  EXPECT_FALSE(ParseExpected("{\"C\": 1}").ok());
  EXPECT_FALSE(ParseExpected("{\"C\": {\"row\": 1}}").ok());
}

// (512 - X) refills = X page flushes.
TEST(CardC, EqualCostsBreakEvenAtHalfTheEntries) {
  const Card card = CardC();
  const Measured measured = card.simulate({17, 80, 50}, 0).value();
  EXPECT_EQ(measured[0], 256);
}

}  // namespace
}  // namespace lookaside
