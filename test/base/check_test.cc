// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/check.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

TEST(Check, ATrueConditionIsEvaluatedOnceAndPasses) {
  int evaluated = 0;
  LOOKASIDE_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(Check, MayStandAloneInABranch) {
  if (true)
    LOOKASIDE_CHECK(true);
  else
    FAIL();
}

TEST(CheckDeathTest, AFalseConditionAbortsAndSaysWhereAndWhat) {
  const int pages = 3;
  EXPECT_DEATH(LOOKASIDE_CHECK(pages == 4),
               "check_test.cc:[0-9]+: CHECK failed: pages == 4");
}

#ifdef NDEBUG
TEST(Dcheck, IsNotEvaluatedWhereNdebugIsDefined) {
  int evaluated = 0;
  LOOKASIDE_DCHECK(++evaluated == 5);
  EXPECT_EQ(evaluated, 0);
}
#else
TEST(DcheckDeathTest, AFalseConditionAbortsInBuildsWithAssertions) {
  EXPECT_DEATH(LOOKASIDE_DCHECK(1 > 2), "CHECK failed: 1 > 2");
}
#endif

}  // namespace
}  // namespace lookaside
