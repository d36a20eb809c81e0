// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/vary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> ValuesOf(const std::string& list) {
  const absl::StatusOr<Vary> vary = ParseVary("key=" + list);
  EXPECT_TRUE(vary.ok()) << Message(vary.status());
  return vary.ok() ? vary->values : std::vector<std::string>();
}

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<Vary> vary = ParseVary(text);
  EXPECT_FALSE(vary.ok()) << text;
  return Message(vary.status());
}

TEST(Vary, AListIsItsValues) {
  EXPECT_EQ(ParseVary("tlb.stlb.entries=512,1024")->key, "tlb.stlb.entries");
  EXPECT_THAT(ValuesOf("512,1024,lru"), ElementsAre("512", "1024", "lru"));
}

TEST(Vary, ARangeCountsByOneUnlessToldOtherwise) {
  EXPECT_THAT(ValuesOf("3..6"), ElementsAre("3", "4", "5", "6"));
  EXPECT_THAT(ValuesOf("0..10:4"), ElementsAre("0", "4", "8"));
  EXPECT_THAT(ValuesOf("7..7"), ElementsAre("7"));
}

TEST(Vary, ZeroCountsOnceBeforeAFactorThenFromOne) {
  EXPECT_THAT(ValuesOf("0..9:*2"), ElementsAre("0", "1", "2", "4", "8"));
  EXPECT_THAT(ValuesOf("3..30:*3"), ElementsAre("3", "9", "27"));
  EXPECT_THAT(ValuesOf("0..0:*2"), ElementsAre("0"));
}

TEST(Vary, DecimalsAndSizesAreWrittenAsTheBoundsAre) {
  EXPECT_THAT(ValuesOf("0..0.8:0.2"),
              ElementsAre("0", "0.2", "0.4", "0.6", "0.8"));
  EXPECT_THAT(ValuesOf("512K..2M:*2"), ElementsAre("512K", "1M", "2M"));
  EXPECT_THAT(ValuesOf("4K..12K:4K"), ElementsAre("4K", "8K", "12K"));
}

TEST(Vary, ListsMayHoldRanges) {
  EXPECT_THAT(ValuesOf("0..2,8"), ElementsAre("0", "1", "2", "8"));
}

TEST(Vary, ACommaWithinBracketsOrQuotesSeparatesNothing) {
  EXPECT_THAT(ValuesOf("[\"4K\",\"2M\"],[\"4K\"]"),
              ElementsAre("[\"4K\",\"2M\"]", "[\"4K\"]"));
  EXPECT_THAT(ValuesOf("'a,b',c"), ElementsAre("'a,b'", "c"));
}

TEST(Vary, ErrorsSayWhichPartIsWrong) {
  EXPECT_THAT(ErrorOf("tlb.stlb.entries"), HasSubstr("expected KEY=LIST"));
  EXPECT_THAT(ErrorOf("=1"), HasSubstr("expected KEY=LIST"));
  EXPECT_THAT(ErrorOf("k=1,,2"), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf("k="), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf("k=a..b"), HasSubstr("'a..b': its bounds"));
  EXPECT_THAT(ErrorOf("k=1..-4"), HasSubstr("its bounds are not numbers"));
  EXPECT_THAT(ErrorOf("k=5..4"), HasSubstr("first bound is above"));
  EXPECT_THAT(ErrorOf("k=1..9:0"), HasSubstr("step is not above 0"));
  EXPECT_THAT(ErrorOf("k=1..9:x"), HasSubstr("step is not a number"));
  EXPECT_THAT(ErrorOf("k=1..9:*1"), HasSubstr("factor"));
  EXPECT_THAT(ErrorOf("k=1,2,1"), HasSubstr("1 is in the list twice"));
  EXPECT_THAT(ErrorOf("k=0..100000"), HasSubstr("more than 100000 values"));
}

TEST(Vary, TheLargestNumbersDoNotOverflow) {
  EXPECT_THAT(ValuesOf("1..4611686018427387904:*4611686018427387904"),
              ElementsAre("1", "4611686018427387904"));
  EXPECT_THAT(ErrorOf("k=0..4611686018427387905"),
              HasSubstr("bounds are not numbers"));
  EXPECT_THAT(ErrorOf("k=1K..4611686018427387904K"), HasSubstr("out of range"));
}

}  // namespace
}  // namespace lookaside
