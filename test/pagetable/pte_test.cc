// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/pte.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

TEST(Pte, HasTheBitsOfTheArchitecture) {
  const FrameNumber frame(0x12345);
  EXPECT_EQ(Pte::Table(frame).bits(), 0x12345007u);
  EXPECT_EQ(Pte::Leaf(frame, PageSize::k4K, {}).bits(), 0x12345001u);
  EXPECT_EQ(Pte::Leaf(FrameNumber(0x12200), PageSize::k2M,
                      {.writable = true, .user = true, .nx = true})
                .bits(),
            0x80000000'12200087u);
  EXPECT_EQ(Pte().WithAccessed(true).bits(), 1u << 5);
  EXPECT_EQ(Pte().WithDirty(true).bits(), 1u << 6);
  EXPECT_EQ(Pte().WithGlobal(true).bits(), 1u << 8);
}

TEST(Pte, FrameHasFortyBits) {
  const FrameNumber highest((uint64_t{1} << 40) - 1);
  const Pte pte = Pte::Leaf(highest, PageSize::k4K, {.nx = true});
  EXPECT_EQ(pte.frame(), highest);
  EXPECT_TRUE(pte.nx());
  EXPECT_EQ(pte.WithFrame(FrameNumber(1)).frame(), FrameNumber(1));
  EXPECT_TRUE(pte.WithFrame(FrameNumber(1)).nx());
}

TEST(Pte, EachSetterChangesOneBitAndTakesItBack) {
  const Pte pte = Pte::Table(FrameNumber(7));
  EXPECT_FALSE(pte.WithPresent(false).present());
  EXPECT_FALSE(pte.WithWritable(false).writable());
  EXPECT_FALSE(pte.WithUser(false).user());
  EXPECT_TRUE(pte.WithNx(true).nx());
  EXPECT_EQ(pte.WithWritable(false).WithWritable(true), pte);
  EXPECT_EQ(pte.WithDirty(true).WithDirty(false), pte);
}

TEST(Pte, AnyLevelMayForbid) {
  const PagePermissions all{.writable = true, .user = true, .nx = false};
  EXPECT_EQ(Combine(all, all), all);
  EXPECT_FALSE(Combine(all, {.writable = false, .user = true}).writable);
  EXPECT_FALSE(Combine({.writable = true, .user = false}, all).user);
  EXPECT_TRUE(Combine(all, {.nx = true}).nx);
}

}  // namespace
}  // namespace lookaside
