// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/typed_int.h"

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "absl/hash/hash.h"
#include "lookaside/base/address.h"
#include "lookaside/base/ids.h"

namespace lookaside {
namespace {

template <typename A, typename B>
concept Addable = requires(A a, B b) { a + b; };
template <typename A, typename B>
concept Comparable = requires(A a, B b) { a < b; };

static_assert(!std::is_convertible_v<uint64_t, VirtAddr>);
static_assert(!std::is_convertible_v<VirtAddr, uint64_t>);
static_assert(!std::is_constructible_v<VirtAddr, PhysAddr>);
static_assert(!Addable<VirtAddr, VirtAddr> && !Addable<VirtAddr, int>);
static_assert(!std::equality_comparable_with<VirtAddr, PhysAddr>);
static_assert(!Comparable<CpuId, CoreId>);
static_assert(std::is_trivially_copyable_v<Pcid> && sizeof(Pcid) == 2);

TEST(TypedInt, HoldsItsValueAndBeginsAtZero) {
  EXPECT_EQ(Pcid(0xfff).value(), 0xfff);
  EXPECT_EQ(CpuId().value(), 0u);
}

TEST(TypedInt, ComparesByValue) {
  EXPECT_EQ(CpuId(3), CpuId(3));
  EXPECT_NE(CpuId(3), CpuId(4));
  EXPECT_LT(CpuId(3), CpuId(4));
  EXPECT_GT(VirtAddr(~uint64_t{0}), VirtAddr(1));
}

TEST(TypedInt, HashesByValue) {
  EXPECT_EQ(absl::HashOf(Vpid(7)), absl::HashOf(Vpid(7)));
  EXPECT_NE(absl::HashOf(Vpid(7)), absl::HashOf(Vpid(8)));
}

TEST(TypedInt, PrintsInDecimal) {
  EXPECT_EQ(FrameNumber(255).ToString(), "255");
  EXPECT_EQ(ThreadSlot(65).ToString(), "65");
}

}  // namespace
}  // namespace lookaside
