// SPDX-License-Identifier: Apache-2.0
//
// Time of one hardware thread, in cycles of its core clock. Integers only:
// results must not depend on a compiler's floating point.
#ifndef LOOKASIDE_BASE_CYCLES_H_
#define LOOKASIDE_BASE_CYCLES_H_

#include <compare>
#include <cstdint>

namespace lookaside {

class Cycles {
 public:
  constexpr Cycles() = default;
  constexpr explicit Cycles(uint64_t count) : count_(count) {}

  constexpr uint64_t value() const { return count_; }

  constexpr Cycles& operator+=(Cycles other) {
    count_ += other.count_;
    return *this;
  }
  // REQUIRES: other <= *this.
  constexpr Cycles& operator-=(Cycles other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Cycles operator+(Cycles a, Cycles b) { return a += b; }
  friend constexpr Cycles operator-(Cycles a, Cycles b) { return a -= b; }
  friend constexpr Cycles operator*(Cycles a, uint64_t n) {
    return Cycles(a.count_ * n);
  }
  friend constexpr bool operator==(Cycles, Cycles) = default;
  friend constexpr auto operator<=>(Cycles, Cycles) = default;

 private:
  uint64_t count_ = 0;
};

// Nanoseconds to cycles of a clock of `mhz`, rounded half up.
constexpr Cycles CyclesFromNs(uint64_t ns, uint64_t mhz) {
  return Cycles((ns * mhz + 500) / 1000);
}

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_CYCLES_H_
