// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gtest/gtest.h"
#include "lookaside/report/text_table.h"
#include "lookaside/report/wrap_text.h"

namespace lookaside {
namespace {

TEST(TextTableTest, AlignsNamesLeftAndNumbersRight) {
  TextTable table({"TLB", "misses"});
  table.AddRow({"stlb", "7"});
  table.AddRow({"l1", "12,345,678"});
  EXPECT_EQ(table.ToString(),
            "  TLB       misses\n"
            "  stlb           7\n"
            "  l1    12,345,678\n");
}

TEST(TextTableTest, HasNoLineForEmptyHeadings) {
  TextTable table({"", ""});
  table.AddRow({"walk", "1"});
  EXPECT_EQ(table.ToString(), "  walk  1\n");
}

TEST(WrapTextTest, BreaksBetweenWordsAndIndents) {
  const std::string word(45, 'x');
  EXPECT_EQ(WrapText("note  ", word + " " + word + " " + word),
            "note  " + word + " " + word + "\n      " + word + "\n");
}

TEST(WrapTextTest, FillsTheLastColumn) {
  const std::string text = std::string(49, 'a') + " " + std::string(50, 'b');
  EXPECT_EQ(WrapText("", text), text + "\n");
  EXPECT_EQ(WrapText("", text + "b"),
            std::string(49, 'a') + "\n" + std::string(51, 'b') + "\n");
}

TEST(WrapTextTest, LeavesALongWordWhole) {
  const std::string word(150, 'x');
  EXPECT_EQ(WrapText("warning   ", word), "warning   " + word + "\n");
}

}  // namespace
}  // namespace lookaside
