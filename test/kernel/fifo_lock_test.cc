// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/fifo_lock.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

TEST(FifoLockTest, AWriterExcludesEveryone) {
  FifoLock lock;
  EXPECT_TRUE(lock.Acquire(CpuId(1), true));
  EXPECT_TRUE(lock.Acquire(CpuId(1), true));  // asking again changes nothing
  EXPECT_FALSE(lock.Acquire(CpuId(2), false));
  EXPECT_FALSE(lock.Acquire(CpuId(3), true));
  lock.Release(CpuId(1));
  EXPECT_TRUE(lock.HeldBy(CpuId(2)));
  EXPECT_FALSE(lock.HeldBy(CpuId(3)));
}

TEST(FifoLockTest, ReadersShareButDoNotOvertakeAWriter) {
  FifoLock lock;
  EXPECT_TRUE(lock.Acquire(CpuId(1), false));
  EXPECT_TRUE(lock.Acquire(CpuId(2), false));
  EXPECT_FALSE(lock.Acquire(CpuId(3), true));
  EXPECT_FALSE(lock.Acquire(CpuId(4), false));
  EXPECT_FALSE(lock.Acquire(CpuId(5), false));
  lock.Release(CpuId(2));
  EXPECT_FALSE(lock.HeldBy(CpuId(3)));
  lock.Release(CpuId(1));
  EXPECT_TRUE(lock.HeldBy(CpuId(3)));
  EXPECT_FALSE(lock.HeldBy(CpuId(4)));
  lock.Release(CpuId(3));
  EXPECT_TRUE(lock.HeldBy(CpuId(4)));
  EXPECT_TRUE(lock.HeldBy(CpuId(5)));
}

TEST(FifoLockTest, AskingWhileQueuedKeepsThePlace) {
  FifoLock lock;
  lock.Acquire(CpuId(1), true);
  lock.Acquire(CpuId(2), true);
  lock.Acquire(CpuId(3), true);
  const FifoLock before = lock;
  EXPECT_FALSE(lock.Acquire(CpuId(2), true));
  EXPECT_EQ(lock, before);
  lock.Release(CpuId(1));
  EXPECT_TRUE(lock.HeldBy(CpuId(2)));
}

TEST(FifoLockTest, ADowngradeLetsReadersIn) {
  FifoLock lock;
  lock.Acquire(CpuId(1), true);
  EXPECT_FALSE(lock.Acquire(CpuId(2), false));
  lock.Downgrade(CpuId(1));
  EXPECT_TRUE(lock.HeldBy(CpuId(2)));
  EXPECT_TRUE(lock.HeldBy(CpuId(1)));
}

TEST(FifoLockTest, AFreeLockIsEqualToANewOne) {
  FifoLock lock;
  lock.Acquire(CpuId(1), true);
  lock.Acquire(CpuId(0), false);
  lock.Release(CpuId(1));
  lock.Release(CpuId(0));
  EXPECT_TRUE(lock.free());
  EXPECT_EQ(lock, FifoLock());
}

}  // namespace
}  // namespace lookaside
