// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/digest.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"

namespace lookaside {
namespace {

template <typename... Values>
Fingerprint Of(const Values&... values) {
  Digest digest;
  (digest.Add(values), ...);
  return digest.Finish();
}

// The value that the XXH3 specification's reference gives for no input.
TEST(Digest, OfNothingIsTheXxh3OfNothing) {
  EXPECT_EQ(Digest().Finish().ToString(), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, EqualValuesGiveEqualFingerprints) {
  EXPECT_EQ(Of(1, 2, 3), Of(1, 2, 3));
}

TEST(Digest, OrderAndNumberOfValuesMatter) {
  const std::set<Fingerprint> all{Of(1, 2), Of(2, 1), Of(1), Of(1, 2, 0),
                                  Of(0, 1, 2)};
  EXPECT_EQ(all.size(), 5u);
}

TEST(Digest, WidthAndTypeOfAFieldDoNotMatter) {
  enum class Kind : uint8_t { kSeven = 7 };
  const Fingerprint wide = Of(uint64_t{7});
  EXPECT_EQ(Of(uint8_t{7}), wide);
  EXPECT_EQ(Of(Kind::kSeven), wide);
  EXPECT_EQ(Of(Pcid(7)), wide);
  EXPECT_EQ(Of(Cycles(7)), wide);
  EXPECT_EQ(Of(true), Of(1));
}

TEST(Digest, FinishCanBeAskedAgainAndGoesOn) {
  Digest digest;
  digest.Add(1);
  EXPECT_EQ(digest.Finish(), digest.Finish());
  digest.Add(2);
  EXPECT_EQ(digest.Finish(), Of(1, 2));
}

TEST(Digest, AnyOfManyBytesMatters) {
  uint8_t bytes[1000] = {};
  std::set<Fingerprint> seen;
  for (uint8_t& byte : bytes) {
    byte = 1;
    Digest digest;
    digest.AddBytes(bytes, sizeof(bytes));
    seen.insert(digest.Finish());
    byte = 0;
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(Fingerprint, PrintsTheHighHalfFirst) {
  EXPECT_EQ((Fingerprint{0x1, 0xabc}).ToString(),
            "00000000000000010000000000000abc");
  EXPECT_LT((Fingerprint{1, 9}), (Fingerprint{2, 0}));
}

}  // namespace
}  // namespace lookaside
