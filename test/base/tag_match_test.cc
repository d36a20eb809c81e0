// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/tag_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

TEST(TagMatch, FindsEveryEqualTagAndNoOther) {
  Rng rng(2);
  for (uint32_t count = 1; count <= 64; ++count) {
    for (int round = 0; round < 50; ++round) {
      // What lies behind a set's tags is equal, and must not count.
      std::vector<uint32_t> tags(count + kTagBlock);
      uint64_t want = 0;
      const auto wanted = static_cast<uint32_t>(rng.Next()) | 1u;
      std::fill(tags.begin(), tags.end(), wanted);
      for (uint32_t i = 0; i < count; ++i) {
        // Equal, or different in one bit.
        const bool equal = rng.Below(3) == 0;
        tags[i] = equal ? wanted : wanted ^ (1u << rng.Below(32));
        want |= uint64_t{equal} << i;
      }
      ASSERT_EQ(MatchTags(tags.data(), count, wanted), want);
    }
  }
}

TEST(TagMatch, PaddingThatNeverMatchesNeedsNoMask) {
  Rng rng(3);
  for (uint32_t count = 1; count <= kTagBlock; ++count) {
    for (int round = 0; round < 50; ++round) {
      // The padding, and then another set's tags.
      std::vector<uint32_t> tags(std::bit_ceil(count) + kTagBlock, 7);
      std::fill(tags.begin(), tags.begin() + std::bit_ceil(count), 0u);
      uint32_t want = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const bool equal = rng.Below(3) == 0;
        tags[i] = equal ? 7u : 9u;
        want |= uint32_t{equal} << i;
      }
      ASSERT_EQ(MatchFewTags<TagPadding::kNeverMatches>(tags.data(), count,
                                                        WantedTag(7)),
                want);
    }
  }
}

TEST(TagMatch, FindsTheFirstThatIsIt) {
  for (uint32_t count : {1u, 3u, 8u, 20u, 64u, 65u, 130u, 200u}) {
    std::vector<uint32_t> tags(count, 7);
    tags.resize(count + kTagBlock, 7);
    for (uint32_t it = 0; it <= count; ++it) {
      const auto is_it = [it](uint32_t place) { return place >= it; };
      EXPECT_EQ(FindTagged(tags.data(), count, 7, is_it), it);
      EXPECT_EQ(FindTagged(tags.data(), count, 9, is_it), count);
    }
  }
}

TEST(TagMatch, NoKeyHasTheTagOfAnEmptyPlace) {
  EXPECT_NE(TagOf(0), 0u);
  EXPECT_NE(TagOf(0x0000000100000001u), 0u);
  EXPECT_NE(TagOf(~uint64_t{0}), 0u);
}

TEST(TagMatch, BothHalvesOfAKeyMakeItsTag) {
  for (uint32_t bit = 1; bit < 32; ++bit) {
    EXPECT_NE(TagOf(uint64_t{1} << bit), TagOf(0)) << bit;
    EXPECT_NE(TagOf(uint64_t{1} << (32 + bit)), TagOf(0)) << bit;
  }
}

}  // namespace
}  // namespace lookaside
