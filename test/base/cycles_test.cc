// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/cycles.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lookaside {
namespace {

TEST(Cycles, AddSubtractAndScale) {
  Cycles cycles(5);
  cycles += Cycles(7);
  EXPECT_EQ(cycles, Cycles(12));
  cycles -= Cycles(2);
  EXPECT_EQ(cycles, Cycles(10));
  EXPECT_EQ(Cycles(3) + Cycles(4), Cycles(7));
  EXPECT_EQ(Cycles(9) - Cycles(4), Cycles(5));
  EXPECT_EQ(Cycles(9) * 4, Cycles(36));
  EXPECT_LT(Cycles(9), Cycles(10));
  EXPECT_EQ(Cycles().value(), 0u);
}

TEST(CyclesFromNs, RoundsHalfUp) {
  struct Case {
    uint64_t ns, mhz, cycles;
  };
  for (const Case& c :
       {Case{0, 3000, 0}, Case{1, 3000, 3}, Case{1, 499, 0}, Case{1, 500, 1},
        Case{1, 1499, 1}, Case{1, 1500, 2}, Case{3, 2500, 8}, Case{7, 2100, 15},
        Case{100, 2666, 267}, Case{1'000'000'000, 3999, 3'999'000'000}}) {
    EXPECT_EQ(CyclesFromNs(c.ns, c.mhz), Cycles(c.cycles))
        << c.ns << " ns at " << c.mhz << " MHz";
  }
}

}  // namespace
}  // namespace lookaside
