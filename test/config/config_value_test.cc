// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_value.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lookaside/config/nearest.h"

namespace lookaside {
namespace {

TEST(ParseSize, TakesPowersOf1024) {
  EXPECT_EQ(ParseSize("4K"), 4096u);
  EXPECT_EQ(ParseSize("2M"), 2097152u);
  EXPECT_EQ(ParseSize("1G"), uint64_t{1} << 30);
  EXPECT_EQ(ParseSize("1T"), uint64_t{1} << 40);
  EXPECT_EQ(ParseSize("123"), 123u);
  EXPECT_EQ(ParseSize("0"), 0u);
}

TEST(ParseSize, RefusesEverythingElse) {
  for (const char* text :
       {"", "K", "-1K", "+1K", " 1K", "1K ", "1KB", "1k", "1.5G", "1KK", "0x10",
        "16777216T", "18446744073709551616"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseSize("16777215T"), uint64_t{16777215} << 40);
}

TEST(SizeToString, IsTheShortestThatReadsBack) {
  EXPECT_EQ(SizeToString(0), "0");
  EXPECT_EQ(SizeToString(1023), "1023");
  EXPECT_EQ(SizeToString(4096), "4K");
  EXPECT_EQ(SizeToString(uint64_t{3} << 29), "1536M");
  EXPECT_EQ(SizeToString(uint64_t{1} << 50), "1024T");
}

TEST(ToString, WritesFractionsWithoutTrailingZeros) {
  EXPECT_EQ(ToString(Permille(0)), "0");
  EXPECT_EQ(ToString(Permille(1)), "0.001");
  EXPECT_EQ(ToString(Permille(250)), "0.25");
  EXPECT_EQ(ToString(Permille(1000)), "1");
}

TEST(ToToml, WritesEachKindOfValue) {
  EXPECT_EQ(ToToml(true), "true");
  EXPECT_EQ(ToToml(uint64_t{1536}), "1536");
  EXPECT_EQ(ToToml(Permille(500)), "0.5");
  EXPECT_EQ(ToToml(std::string("a\"b\n")), "\"a\\\"b\\u000A\"");
  EXPECT_EQ(ToToml(std::vector<std::string>{"4K", "2M"}), "[\"4K\", \"2M\"]");
}

TEST(Nearest, FindsSlipsOfThePen) {
  const std::vector<std::string> names = {"zen1", "zen3", "skylake-sp",
                                          "tlb.stlb.ways", "walk.walkers"};
  EXPECT_EQ(Nearest("skylake", names), "skylake-sp");
  EXPECT_EQ(Nearest("skyalke-sp", names), "skylake-sp");
  EXPECT_EQ(Nearest("zen33", names), "zen3");
  EXPECT_EQ(Nearest("zen", names), "zen1");
  EXPECT_EQ(Nearest("tlb.stlb.way", names), "tlb.stlb.ways");
  EXPECT_EQ(Nearest("", names), "zen1");
  EXPECT_EQ(Nearest("x", {}), "");
  EXPECT_NE(Nearest(std::string(1 << 20, 'x'), names), "");
}

TEST(Suggest, IsSilentWhereNothingIsNear) {
  const std::vector<std::string> names = {"zen3", "skylake-sp", "tlb.stlb.ways",
                                          "walk.walkers"};
  EXPECT_EQ(Suggest("zen33", names), "zen3");
  EXPECT_EQ(Suggest("skylake", names), "skylake-sp");
  EXPECT_EQ(Suggest("walk.runners", names), "walk.walkers");
  EXPECT_EQ(Suggest("tlb.stlb", names), "tlb.stlb.ways");
  EXPECT_EQ(Suggest("xyzzy", names), "");
  EXPECT_EQ(Suggest("", names), "");
  EXPECT_EQ(Suggest("x", {}), "");
  EXPECT_EQ(Suggest(std::string(1 << 20, 'x'), names), "");
}

}  // namespace
}  // namespace lookaside
