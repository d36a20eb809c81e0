// SPDX-License-Identifier: Apache-2.0
//
// A fraction between 0 and 1 in thousandths, so that a model that uses it
// stays in integers.
#ifndef LOOKASIDE_BASE_PERMILLE_H_
#define LOOKASIDE_BASE_PERMILLE_H_

#include <compare>
#include <cstdint>

namespace lookaside {

class Permille {
 public:
  static constexpr uint32_t kOne = 1000;

  constexpr Permille() = default;
  // REQUIRES: thousandths <= kOne.
  constexpr explicit Permille(uint32_t thousandths)
      : thousandths_(thousandths) {}

  constexpr uint32_t thousandths() const { return thousandths_; }
  constexpr uint32_t value() const { return thousandths_; }

  // This fraction of `whole`, rounded down.
  constexpr uint64_t Of(uint64_t whole) const {
    // Mostly nothing, and then no division (BM_UniformRandom).
    if (thousandths_ == 0) return 0;
    return whole * thousandths_ / kOne;
  }
  // `whole` less this fraction of it, rounded up.
  constexpr uint64_t Without(uint64_t whole) const { return whole - Of(whole); }

  friend constexpr bool operator==(Permille, Permille) = default;
  friend constexpr auto operator<=>(Permille, Permille) = default;

 private:
  uint32_t thousandths_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_PERMILLE_H_
