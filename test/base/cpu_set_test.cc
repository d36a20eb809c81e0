// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/cpu_set.h"

#include <gtest/gtest.h>

#include <set>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

std::vector<uint32_t> Members(const CpuSet& cpus) {
  std::vector<uint32_t> members;
  cpus.ForEach([&](CpuId cpu) { members.push_back(cpu.value()); });
  return members;
}

TEST(CpuSetTest, IteratesInAscendingOrder) {
  CpuSet cpus;
  for (const uint32_t cpu : {200u, 3u, 64u, 63u}) cpus.Add(CpuId(cpu));
  EXPECT_EQ(Members(cpus), (std::vector<uint32_t>{3, 63, 64, 200}));
}

TEST(CpuSetTest, EqualSetsAreEqualHoweverTheyCameToBe) {
  CpuSet a;
  a.Add(CpuId(5));
  CpuSet b = a;
  b.Add(CpuId(4095));
  EXPECT_NE(a, b);
  b.Remove(CpuId(4095));
  EXPECT_EQ(a, b);
  Digest digest_a, digest_b;
  a.AddTo(digest_a);
  b.AddTo(digest_b);
  EXPECT_EQ(digest_a.Finish(), digest_b.Finish());
}

TEST(CpuSetTest, AgreesWithASetOfNumbers) {
  Rng rng(7);
  CpuSet cpus;
  std::set<uint32_t> twin;
  for (int i = 0; i < 5000; ++i) {
    const auto cpu = static_cast<uint32_t>(rng.Below(150));
    switch (rng.Below(4)) {
      case 0:
      case 1:
        cpus.Add(CpuId(cpu));
        twin.insert(cpu);
        break;
      case 2:
        cpus.Remove(CpuId(cpu));
        twin.erase(cpu);
        break;
      default: {
        CpuSet other;
        other.Add(CpuId(cpu));
        cpus |= other;
        twin.insert(cpu);
      }
    }
    ASSERT_EQ(cpus.Has(CpuId(cpu)), twin.count(cpu) == 1);
    ASSERT_EQ(cpus.size(), twin.size());
    ASSERT_EQ(cpus.empty(), twin.empty());
  }
  EXPECT_EQ(Members(cpus), (std::vector<uint32_t>(twin.begin(), twin.end())));
}

}  // namespace
}  // namespace lookaside
