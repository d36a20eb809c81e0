// SPDX-License-Identifier: Apache-2.0
//
// The simulator's random numbers: xoshiro256** 1.0 (Blackman and Vigna, 2018)
// seeded by SplitMix64. Fixed here because the standard library's
// distributions differ from one library to the next. A plain value: copying
// it copies the future.
#ifndef LOOKASIDE_BASE_RNG_H_
#define LOOKASIDE_BASE_RNG_H_

#include <array>
#include <bit>
#include <cstdint>

namespace lookaside {

class Rng {
 public:
  explicit Rng(uint64_t seed = 0) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  uint64_t Next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound) by the high half of a product; the bias is below
  // bound / 2^64. REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound) {
    return static_cast<uint64_t>(
        (static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

  const std::array<uint64_t, 4>& state() const { return state_; }

  friend bool operator==(const Rng&, const Rng&) = default;

 private:
  std::array<uint64_t, 4> state_{};
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_RNG_H_
