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

#include <bit>
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

// A tag to look for, made ready once for any number of searches.
class WantedTag {
 public:
#ifdef __SSE2__
  explicit WantedTag(uint32_t tag)
      : four_(_mm_set1_epi32(static_cast<int>(tag))) {}
  __m128i four() const { return four_; }

 private:
  __m128i four_;  // times the tag
#else
  explicit WantedTag(uint32_t tag) : tag_(tag) {}
  uint32_t tag() const { return tag_; }

 private:
  uint32_t tag_;
#endif
};

#ifdef __SSE2__
[[gnu::always_inline]] inline __m128i EqualFour(const uint32_t* tags,
                                                WantedTag wanted) {
  const auto* at = reinterpret_cast<const __m128i*>(tags);
  return _mm_cmpeq_epi32(_mm_loadu_si128(at), wanted.four());
}
#endif

// Bit i is set when tags[i] is the wanted one, for i < 4 * kFours.
template <uint32_t kFours>
[[gnu::always_inline]] inline uint32_t MatchTagFours(const uint32_t* tags,
                                                     WantedTag wanted) {
  static_assert(kFours == 1 || kFours == 2 || kFours == 4);
#ifdef __SSE2__
  const __m128i first = EqualFour(tags, wanted);
  if constexpr (kFours == 1) {
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(first)));
  } else if constexpr (kFours == 2) {
    const __m128i both = _mm_packs_epi32(first, EqualFour(tags + 4, wanted));
    return static_cast<uint32_t>(
        _mm_movemask_epi8(_mm_packs_epi16(both, _mm_setzero_si128())));
  } else {
    const __m128i low = _mm_packs_epi32(first, EqualFour(tags + 4, wanted));
    const __m128i high = _mm_packs_epi32(EqualFour(tags + 8, wanted),
                                         EqualFour(tags + 12, wanted));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
  }
#else
  uint32_t matches = 0;
  for (uint32_t i = 0; i < 4 * kFours; ++i) {
    matches |= static_cast<uint32_t>(tags[i] == wanted.tag()) << i;
  }
  return matches;
#endif
}

// What lies beside a set's own tags, up to the next power of two.
enum class TagPadding : uint8_t { kAnything, kNeverMatches };

// Bit i is set when tags[i] is the wanted one, for i < count. Few ways are
// compared as few: first levels have mostly four (BM_ReplayDecoded,
// BM_UniformRandom). REQUIRES: 1 <= count <= kTagBlock.
template <TagPadding kPadding>
[[gnu::always_inline]] inline uint32_t MatchFewTags(const uint32_t* tags,
                                                    uint32_t count,
                                                    WantedTag wanted) {
  if (count == 4) return MatchTagFours<1>(tags, wanted);
  if (count == 8) return MatchTagFours<2>(tags, wanted);
  const uint32_t matches = MatchTagFours<4>(tags, wanted);
  if (kPadding == TagPadding::kNeverMatches && count > kTagBlock / 2) {
    return matches;
  }
  return matches & ((2u << (count - 1)) - 1);
}

// The same. REQUIRES: 1 <= count <= 64.
[[gnu::always_inline]] inline uint64_t MatchTags(const uint32_t* tags,
                                                 uint32_t count, uint32_t tag) {
  const WantedTag wanted(tag);
  if (count <= kTagBlock) {
    return MatchFewTags<TagPadding::kAnything>(tags, count, wanted);
  }
  uint64_t matches = 0;
  for (uint32_t i = 0; i < count; i += kTagBlock) {
    matches |= uint64_t{MatchTagFours<4>(tags + i, wanted)} << i;
  }
  return matches & (~uint64_t{0} >> (64 - count));
}

// FindTagged of more tags than a block has.
template <typename Predicate>
inline uint32_t FindTaggedOfMany(const uint32_t* tags, uint32_t count,
                                 uint32_t tag, const Predicate& is_it) {
  constexpr uint32_t kMost = 64;
  if (count > kMost) [[unlikely]] {
    for (uint32_t place = 0; place < count; ++place) {
      if (tags[place] == tag && is_it(place)) return place;
    }
    return count;
  }
  uint64_t matches = MatchTags(tags, count, tag);
  for (; matches != 0; matches &= matches - 1) {
    const auto place = static_cast<uint32_t>(std::countr_zero(matches));
    if (is_it(place)) return place;
  }
  return count;
}

// The first of `count` places whose tag is `tag` and of which `is_it(place)`
// holds, or `count`. REQUIRES: count >= 1.
template <TagPadding kPadding = TagPadding::kAnything, typename Predicate>
[[gnu::always_inline]] inline uint32_t FindTagged(const uint32_t* tags,
                                                  uint32_t count, uint32_t tag,
                                                  const Predicate& is_it) {
  if (count > kTagBlock) return FindTaggedOfMany(tags, count, tag, is_it);
  uint32_t matches = MatchFewTags<kPadding>(tags, count, WantedTag(tag));
  for (; matches != 0; matches &= matches - 1) {
    const auto place = static_cast<uint32_t>(std::countr_zero(matches));
    if (is_it(place)) [[likely]]
      return place;
  }
  return count;
}

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_TAG_MATCH_H_
