// SPDX-License-Identifier: Apache-2.0
//
// Which of a set's 32-bit tags equal a given one, as a bit mask: sixteen tags
// at once, without a branch, where there is SSE2. A tag is a hash of a key;
// whoever finds an equal tag compares the key too.
//
// An array of tags must be kTagBlock longer than its sets need, since a search
// reads a whole block and masks what is not its own.
#ifndef LOOKASIDE_BASE_TAG_MATCH_H_
#define LOOKASIDE_BASE_TAG_MATCH_H_

#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace lookaside {

inline constexpr uint32_t kTagBlock = 16;

// Never 0, which stands for an empty place.
constexpr uint32_t TagOf(uint64_t key) {
  return static_cast<uint32_t>(key ^ (key >> 32)) | 1u;
}

// Bit i is set when tags[i] == tag, for i < kTagBlock.
inline uint32_t MatchTagBlock(const uint32_t* tags, uint32_t tag) {
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
  const auto equal = [&](int group) {
    const auto* at = reinterpret_cast<const __m128i*>(tags + 4 * group);
    return _mm_cmpeq_epi32(_mm_loadu_si128(at), wanted);
  };
  const __m128i low = _mm_packs_epi32(equal(0), equal(1));
  const __m128i high = _mm_packs_epi32(equal(2), equal(3));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
  uint32_t matches = 0;
  for (uint32_t i = 0; i < kTagBlock; ++i) {
    matches |= static_cast<uint32_t>(tags[i] == tag) << i;
  }
  return matches;
#endif
}

// Bit i is set when tags[i] == tag, for i < count. REQUIRES: 1 <= count <= 64.
inline uint64_t MatchTags(const uint32_t* tags, uint32_t count, uint32_t tag) {
  uint64_t matches = MatchTagBlock(tags, tag);
  for (uint32_t i = kTagBlock; i < count; i += kTagBlock) {
    matches |= uint64_t{MatchTagBlock(tags + i, tag)} << i;
  }
  return matches & (~uint64_t{0} >> (64 - count));
}

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_TAG_MATCH_H_
