// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace lookaside {
namespace {

TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  // RFC 3720, appendix B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (char i = 0; i < 32; ++i) rising += i;
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
}

}  // namespace
}  // namespace lookaside
