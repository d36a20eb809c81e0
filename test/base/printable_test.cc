// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace lookaside {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const char* text :
       {"", "a b  c ", "\u00e9t\u00e9.lackey", "\u20ac", "\U0001f600"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, WhatATerminalWouldObeyIsReplaced) {
  EXPECT_EQ(Printable("a\033[31mb\n\r\tc\x7f"), "a?[31mb???c?");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(Printable("\x9b"
                      "31m"),
            "?31m");  // CSI as one byte
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "??31m");  // and in UTF-8
  EXPECT_EQ(Printable("\xc2\xa0"), "\xc2\xa0");
}

TEST(Printable, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(Printable("\xff\xfe"), "??");
  EXPECT_EQ(Printable("\xe2\x82"), "??");  // cut
  EXPECT_EQ(Printable("\xc3("), "?(");
  EXPECT_EQ(Printable("\xc0\x8a"), "??");  // an overlong newline
}

TEST(Printable, LongWordsLoseTheirMiddle) {
  const std::string longest(200, 'x');
  EXPECT_EQ(Printable(longest), longest);
  EXPECT_EQ(
      Printable("in " + longest + "y end"),
      "in " + std::string(120, 'x') + "..." + std::string(59, 'x') + "y end");
  std::string accents;
  for (int i = 0; i < 150; ++i) accents += "a\u0301";  // three bytes
  EXPECT_EQ(Printable(Printable(accents)), Printable(accents));
}

}  // namespace
}  // namespace lookaside
