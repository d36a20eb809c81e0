// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/permille.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

TEST(Permille, OfRoundsDownAndWithoutRoundsUp) {
  EXPECT_EQ(Permille(333).Of(10), 3u);
  EXPECT_EQ(Permille(333).Without(10), 7u);
  EXPECT_EQ(Permille(1).Of(999), 0u);
  EXPECT_EQ(Permille(1).Without(999), 999u);
  EXPECT_EQ(Permille(1).Of(1000), 1u);
}

TEST(Permille, NoneAndAllAreExact) {
  EXPECT_EQ(Permille().Of(123), 0u);
  EXPECT_EQ(Permille(0).Without(123), 123u);
  EXPECT_EQ(Permille(Permille::kOne).Of(123), 123u);
  EXPECT_EQ(Permille(Permille::kOne).Without(123), 0u);
}

TEST(Permille, ComparesByThousandths) {
  EXPECT_LT(Permille(1), Permille(2));
  EXPECT_EQ(Permille(250).thousandths(), 250u);
  EXPECT_EQ(Permille(250).value(), 250u);
}

}  // namespace
}  // namespace lookaside
