// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/format_number.h"

#include "gtest/gtest.h"

namespace lookaside {
namespace {

TEST(CountedTest, OneIsSingular) {
  EXPECT_EQ(Counted(0, "load", "loads"), "0 loads");
  EXPECT_EQ(Counted(1, "load", "loads"), "1 load");
  EXPECT_EQ(Counted(1234, "load", "loads"), "1,234 loads");
}

TEST(GroupedTest, PutsACommaBeforeEveryThirdDigit) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(123456), "123,456");
  EXPECT_EQ(Grouped(~uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(PercentTest, ShowsRareAsMoreThanNoneAndMostAsLessThanAll) {
  EXPECT_EQ(Percent(0, 0), "-");
  EXPECT_EQ(Percent(0, 7), "0 %");
  EXPECT_EQ(Percent(7, 7), "100 %");
  EXPECT_EQ(Percent(1, 8), "12.50 %");
  EXPECT_EQ(Percent(1, 3000000), "0.000033 %");
  EXPECT_EQ(Percent(999997, 1000000), "99.99970 %");
}

// It had nine decimals.
TEST(PercentTest, AboveAllHasNoMoreDigitsThanItNeeds) {
  EXPECT_EQ(Percent(5, 2), "250.00 %");
  EXPECT_EQ(Percent(100001, 100000), "100.00 %");
  EXPECT_EQ(Percent(123456, 100), "123,456 %");
}

TEST(RatioTest, HasTwoSignificantDigits) {
  EXPECT_EQ(Ratio(5, 0), "-");
  EXPECT_EQ(Ratio(0, 5), "0");
  EXPECT_EQ(Ratio(7, 4), "1.75");
  EXPECT_EQ(Ratio(1, 640), "0.0016");
}

}  // namespace
}  // namespace lookaside
