// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/context_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace lookaside {
namespace {

TEST(ContextTable, TheSameAddressSpaceKeepsItsTag) {
  ContextTable table;
  const AddressSpaceTag space{Vpid(3), Pcid(7), ThreadSlot(1), false};
  const ContextTag tag = table.Intern(space);
  table.Intern({Vpid(3), Pcid(8), ThreadSlot(1), false});
  EXPECT_EQ(table.Intern(space), tag);
  EXPECT_EQ(table.Resolve(tag), space);
}

TEST(ContextTable, EveryPartOfTheTripleMakesAnotherAddressSpace) {
  ContextTable table;
  std::set<ContextTag> tags;
  tags.insert(table.Intern({Vpid(0), Pcid(0), ThreadSlot(0), false}));
  tags.insert(table.Intern({Vpid(1), Pcid(0), ThreadSlot(0), false}));
  tags.insert(table.Intern({Vpid(0), Pcid(1), ThreadSlot(0), false}));
  tags.insert(table.Intern({Vpid(0), Pcid(0), ThreadSlot(1), false}));
  tags.insert(table.InternGlobal(Vpid(0)));
  tags.insert(table.InternGlobal(Vpid(1)));
  EXPECT_EQ(tags.size(), 6u);
  EXPECT_EQ(tags.count(ContextTag(0)), 0u) << "tag 0 names nothing";
}

TEST(ContextTable, ADigestShowsTheAddressSpaceAndNotItsNumber) {
  ContextTable a;
  ContextTable b;
  const AddressSpaceTag space{Vpid(0), Pcid(7), ThreadSlot(0), false};
  b.InternGlobal(Vpid(0));
  const ContextTag in_a = a.Intern(space);
  const ContextTag in_b = b.Intern(space);
  ASSERT_NE(in_a, in_b);
  Digest of_a;
  Digest of_b;
  a.AddTo(of_a, in_a);
  b.AddTo(of_b, in_b);
  EXPECT_EQ(of_a.Finish(), of_b.Finish());
}

TEST(ContextTable, ADigestTellsGlobalTranslationsFromThoseOfPcid0) {
  ContextTable table;
  const ContextTag own = table.Intern({Vpid(0), Pcid(0), ThreadSlot(0), false});
  Digest of_own;
  Digest of_global;
  table.AddTo(of_own, own);
  table.AddTo(of_global, table.InternGlobal(Vpid(0)));
  EXPECT_NE(of_own.Finish(), of_global.Finish());
}

TEST(ContextTableDeathTest, ACoreThatSawTooManyAddressSpacesStops) {
  ContextTable table;
  for (uint32_t i = 0; i < 0xffff; ++i) {
    table.Intern({Vpid(static_cast<uint16_t>(i >> 12)),
                  Pcid(static_cast<uint16_t>(i & 0xfff)), ThreadSlot(0),
                  false});
  }
  EXPECT_DEATH(table.InternGlobal(Vpid(99)), "CHECK failed");
}

}  // namespace
}  // namespace lookaside
