// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/quoted.h"

#include <gtest/gtest.h>

#include <string>

namespace lookaside {
namespace {

TEST(Quoted, PlainTextStandsInQuotes) {
  EXPECT_EQ(Quoted("I  0401ab70,3"), "'I  0401ab70,3'");
  EXPECT_EQ(Quoted(""), "''");
}

TEST(Quoted, BytesThatATerminalCouldTripOverAreEscaped) {
  EXPECT_EQ(Quoted(std::string("a\x1b[1m\0\xff\n", 8)),
            "'a\\x1b[1m\\x00\\xff\\x0a'");
}

TEST(Quoted, LongTextIsCut) {
  EXPECT_EQ(Quoted(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(Quoted(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_LE(Quoted(std::string(1000, '\0')).size(), 70u);
}

}  // namespace
}  // namespace lookaside
