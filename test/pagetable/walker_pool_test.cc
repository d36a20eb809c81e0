// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/walker_pool.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

Fingerprint FingerprintOf(const WalkerPool& pool) {
  Digest digest;
  pool.AddTo(digest, Cycles());
  return digest.Finish();
}

TEST(WalkerPool, OneWalkerServesOneWalkAtATime) {
  WalkerPool pool(1);
  EXPECT_EQ(pool.Acquire(Cycles(100), Cycles(30)), Cycles(100));
  EXPECT_EQ(pool.Acquire(Cycles(129), Cycles(30)), Cycles(130));
  EXPECT_EQ(pool.Acquire(Cycles(160), Cycles(30)), Cycles(160));
  EXPECT_EQ(pool.Acquire(Cycles(150), Cycles(10)), Cycles(190));
}

TEST(WalkerPool, WaitsForTheFirstThatBecomesFree) {
  WalkerPool pool(2);
  EXPECT_EQ(pool.Acquire(Cycles(0), Cycles(100)), Cycles(0));
  EXPECT_EQ(pool.Acquire(Cycles(0), Cycles(40)), Cycles(0));
  EXPECT_EQ(pool.Acquire(Cycles(0), Cycles(5)), Cycles(40));
  EXPECT_EQ(pool.Acquire(Cycles(0), Cycles(100)), Cycles(45));
  EXPECT_EQ(pool.Acquire(Cycles(0), Cycles(1)), Cycles(100));
}

TEST(WalkerPool, WalkersAreAlike) {
  WalkerPool a(2);
  WalkerPool b(2);
  a.Acquire(Cycles(0), Cycles(10));
  a.Acquire(Cycles(0), Cycles(20));
  b.Acquire(Cycles(0), Cycles(20));
  EXPECT_FALSE(a == b);
  EXPECT_NE(FingerprintOf(a), FingerprintOf(b));
  b.Acquire(Cycles(0), Cycles(10));
  EXPECT_TRUE(a == b);
  EXPECT_EQ(FingerprintOf(a), FingerprintOf(b));
}

}  // namespace
}  // namespace lookaside
