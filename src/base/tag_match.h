// SPDX-License-Identifier: Apache-2.0
//
// Which of a set's 32-bit tags equal a given one, as a bit mask: four tags an
// instruction where there is SSE2, one otherwise. A tag is a hash of a key;
// whoever finds an equal tag compares the key too.
#ifndef LOOKASIDE_BASE_TAG_MATCH_H_
#define LOOKASIDE_BASE_TAG_MATCH_H_

#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace lookaside {

// Tags are kept in groups of this many.
inline constexpr uint32_t kTagGroup = 4;

constexpr uint32_t RoundUpToTagGroup(uint32_t ways) {
  return (ways + kTagGroup - 1) / kTagGroup * kTagGroup;
}

// Never 0, which stands for an empty place.
constexpr uint32_t TagOf(uint64_t key) {
  return static_cast<uint32_t>(key ^ (key >> 32)) | 1u;
}

// Bit i is set when tags[i] == tag. REQUIRES: count is a multiple of
// kTagGroup, at most 64.
inline uint64_t MatchTags(const uint32_t* tags, uint32_t count, uint32_t tag) {
  uint64_t matches = 0;
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
  for (uint32_t i = 0; i < count; i += kTagGroup) {
    const __m128i group =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags + i));
    const auto equal = static_cast<uint64_t>(
        _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(group, wanted))));
    matches |= equal << i;
  }
#else
  for (uint32_t i = 0; i < count; ++i) {
    matches |= static_cast<uint64_t>(tags[i] == tag) << i;
  }
#endif
  return matches;
}

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_TAG_MATCH_H_
