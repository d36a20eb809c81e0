// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace lookaside {
namespace {

// The published recurrence of xoshiro256**, transcribed from the paper's
// reference code (Blackman and Vigna, "Scrambled Linear Pseudorandom Number
// Generators", 2018), apart from our own.
uint64_t RotateLeft(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

uint64_t NextOfPaper(std::array<uint64_t, 4>& s) {
  const uint64_t result = RotateLeft(s[1] * 5, 7) * 9;
  const uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = RotateLeft(s[3], 45);
  return result;
}

TEST(Rng, TheTranscriptionGivesThePublishedVectorOfTheState1234) {
  std::array<uint64_t, 4> state{1, 2, 3, 4};
  for (uint64_t want :
       {uint64_t{11520}, uint64_t{0}, uint64_t{1509978240},
        uint64_t{1215971899390074240}, uint64_t{1216172134540287360},
        uint64_t{607988272756665600}, uint64_t{16172922978634559625u},
        uint64_t{8476171486693032832}, uint64_t{10595114339597558777u},
        uint64_t{2904607092377533576}}) {
    EXPECT_EQ(NextOfPaper(state), want);
  }
}

TEST(Rng, FollowsTheTranscription) {
  Rng rng(42);
  std::array<uint64_t, 4> state = rng.state();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(rng.Next(), NextOfPaper(state));
  EXPECT_EQ(rng.state(), state);
}

TEST(Rng, IsSeededByThePublishedVectorOfSplitMix64) {
  const std::array<uint64_t, 4> want{6457827717110365317, 3203168211198807973,
                                     9817491932198370423u, 4593380528125082431};
  EXPECT_EQ(Rng(1234567).state(), want);
}

TEST(Rng, GivesTheSameNumbersForever) {
  Rng zero;
  for (uint64_t want : {0x99ec5f36cb75f2b4u, 0xbf6e1f784956452au,
                        0x1a5f849d4933e6e0u, 0x6aa594f1262d2d2cu}) {
    EXPECT_EQ(zero.Next(), want);
  }
  Rng other(1234567);
  for (uint64_t want : {0x30a3a1c363600467u, 0x19405f0f579929cau,
                        0x115beaac046ddbd9u, 0xeb17caf48f27d7f6u}) {
    EXPECT_EQ(other.Next(), want);
  }
}

TEST(Rng, ACopyHasTheSameFuture) {
  Rng rng(7);
  rng.Next();
  Rng copy = rng;
  EXPECT_EQ(copy, rng);
  EXPECT_EQ(copy.Next(), rng.Next());
  copy.Next();
  EXPECT_FALSE(copy == rng);
}

TEST(Rng, BelowIsTheHighHalfOfTheProduct) {
  Rng rng(3);
  Rng raw(3);
  for (int i = 0; i < 1000; ++i) {
    // With a power of two the high half is the high bits.
    EXPECT_EQ(rng.Below(uint64_t{1} << 20), raw.Next() >> 44);
  }
  EXPECT_EQ(rng.Below(1), 0u);
}

// n = 120000 draws of 12: each count is binomial with mean 10000 and standard
// deviation sqrt(n * 1/12 * 11/12) = 95.7; the bound is five of them.
TEST(Rng, BelowIsUniform) {
  Rng rng(5);
  std::array<int, 12> counts{};
  for (int i = 0; i < 120000; ++i) ++counts.at(rng.Below(12));
  for (int count : counts) EXPECT_NEAR(count, 10000, 479);
}

}  // namespace
}  // namespace lookaside
