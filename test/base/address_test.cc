// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/address.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lookaside {
namespace {

TEST(PageSize, SizesCountTheir4KPages) {
  EXPECT_EQ(PagesIn(PageSize::k4K) * kPageBytes, uint64_t{4} << 10);
  EXPECT_EQ(PagesIn(PageSize::k2M) * kPageBytes, uint64_t{2} << 20);
  EXPECT_EQ(PagesIn(PageSize::k1G) * kPageBytes, uint64_t{1} << 30);
  EXPECT_EQ(PageOrder(PageSize::k1G), 18u);
}

TEST(PageSize, NamesAreThoseOfTheConfiguration) {
  EXPECT_EQ(Name(PageSize::k4K), "4K");
  EXPECT_EQ(Name(PageSize::k2M), "2M");
  EXPECT_EQ(Name(PageSize::k1G), "1G");
}

TEST(PageOf, KeepsBits56To12OfTheAddress) {
  EXPECT_EQ(PageOf(VirtAddr(0xfff)), VirtPage(0));
  EXPECT_EQ(PageOf(VirtAddr(0x1000)), VirtPage(1));
  EXPECT_EQ(PageOf(VirtAddr(0x7fff'ffff'ffff)), VirtPage(0x7'ffff'ffff));
  EXPECT_EQ(PageOf(VirtAddr(~uint64_t{0})), VirtPage(kVirtPageMask));
  EXPECT_EQ(kVirtPageMask, 0x1fff'ffff'ffffu);
}

TEST(StartOf, AnAddressOfTheUpperHalfIsSignExtended) {
  EXPECT_EQ(StartOf(PageOf(VirtAddr(0xffff'8880'1234'5678))),
            VirtAddr(0xffff'8880'1234'5000));
  EXPECT_EQ(StartOf(PageOf(VirtAddr(0xff00'0000'0000'0000))),
            VirtAddr(0xff00'0000'0000'0000));
  EXPECT_EQ(StartOf(VirtPage(kVirtPageMask)), VirtAddr(0xffff'ffff'ffff'f000));
}

TEST(StartOf, AnAddressOfTheLowerHalfIsNot) {
  EXPECT_EQ(StartOf(VirtPage(1)), VirtAddr(0x1000));
  EXPECT_EQ(StartOf(PageOf(VirtAddr(0x00ff'ffff'ffff'ffff))),
            VirtAddr(0x00ff'ffff'ffff'f000));
}

TEST(StartOf, AFrameBeginsAt4096TimesItsNumber) {
  EXPECT_EQ(StartOf(FrameNumber(0x12345)), PhysAddr(0x1234'5000));
}

TEST(AlignDown, ClearsTheBitsBelowThePageSize) {
  const VirtPage page(0x1'2345'6789);
  EXPECT_EQ(AlignDown(page, PageSize::k4K), page);
  EXPECT_EQ(AlignDown(page, PageSize::k2M), VirtPage(0x1'2345'6600));
  EXPECT_EQ(AlignDown(page, PageSize::k1G), VirtPage(0x1'2344'0000));
}

TEST(PageIndex, CountsInPagesOfThatSize) {
  const VirtPage page(0x1'2345'6789);
  EXPECT_EQ(PageIndex(page, PageSize::k4K), 0x1'2345'6789u);
  EXPECT_EQ(PageIndex(page, PageSize::k2M), 0x1'2345'6789u / 512);
  EXPECT_EQ(PageIndex(page, PageSize::k1G), 0x1'2345'6789u / 512 / 512);
}

TEST(IsCanonical, WithFourLevelsBits63To47AreEqual) {
  EXPECT_TRUE(IsCanonical(VirtAddr(0), 4));
  EXPECT_TRUE(IsCanonical(VirtAddr(0x0000'7fff'ffff'ffff), 4));
  EXPECT_FALSE(IsCanonical(VirtAddr(0x0000'8000'0000'0000), 4));
  EXPECT_FALSE(IsCanonical(VirtAddr(0xffff'7fff'ffff'ffff), 4));
  EXPECT_TRUE(IsCanonical(VirtAddr(0xffff'8000'0000'0000), 4));
  EXPECT_TRUE(IsCanonical(VirtAddr(~uint64_t{0}), 4));
}

TEST(IsCanonical, WithFiveLevelsBits63To56AreEqual) {
  EXPECT_TRUE(IsCanonical(VirtAddr(0x00ff'ffff'ffff'ffff), 5));
  EXPECT_FALSE(IsCanonical(VirtAddr(0x0100'0000'0000'0000), 5));
  EXPECT_FALSE(IsCanonical(VirtAddr(0xfeff'ffff'ffff'ffff), 5));
  EXPECT_TRUE(IsCanonical(VirtAddr(0xff00'0000'0000'0000), 5));
}

}  // namespace
}  // namespace lookaside
