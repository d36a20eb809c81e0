// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/paging_structure_caches.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/base/status.h"
#include "lookaside/testing/reference_paging_structure_caches.h"

namespace lookaside {
namespace {

constexpr PagingLevel kCachedLevels[] = {PagingLevel::kPde, PagingLevel::kPdpte,
                                         PagingLevel::kPml4e,
                                         PagingLevel::kPml5e};
constexpr ContextTag kTag(1);
constexpr ContextTag kOther(2);

PscConfig SmallConfig() {
  return {.pml5e = 1, .pml4e = 2, .pdpte = 4, .pde = 8, .pde_ways = 2};
}

PscEntry Entry(uint64_t frame) {
  return {FrameNumber(frame), true, true, false};
}

VirtPage PageAt(uint64_t pml4, uint64_t pdpt, uint64_t pd) {
  return VirtPage(pml4 << 27 | pdpt << 18 | pd << 9);
}

// Tags 1 to `count` as the addresses' spaces of one thread.
ContextTable Contexts(int count) {
  ContextTable contexts;
  for (int i = 1; i <= count; ++i) {
    contexts.Intern(
        {Vpid(0), Pcid(static_cast<uint16_t>(i)), ThreadSlot(0), false});
  }
  return contexts;
}

Fingerprint FingerprintOf(const PagingStructureCaches& psc,
                          const ContextTable& contexts) {
  Digest digest;
  psc.AddTo(digest, contexts);
  return digest.Finish();
}

TEST(PagingStructureCaches, DeepestHitWins) {
  PagingStructureCaches psc(SmallConfig());
  const VirtPage page = PageAt(1, 2, 3);
  EXPECT_EQ(psc.Find(kTag, page).level, PagingLevel::kPte);
  psc.Fill(kTag, page, PagingLevel::kPml4e, Entry(10));
  EXPECT_EQ(psc.Find(kTag, page), (PscHit{PagingLevel::kPml4e, Entry(10)}));
  psc.Fill(kTag, page, PagingLevel::kPde, Entry(12));
  EXPECT_EQ(psc.Find(kTag, page), (PscHit{PagingLevel::kPde, Entry(12)}));
  psc.Fill(kTag, page, PagingLevel::kPdpte, Entry(11));
  EXPECT_EQ(psc.Find(kTag, page), (PscHit{PagingLevel::kPde, Entry(12)}));
  // A neighbour under the same PDPTE, and one under the same PML4E.
  EXPECT_EQ(psc.Find(kTag, PageAt(1, 2, 4)).entry, Entry(11));
  EXPECT_EQ(psc.Find(kTag, PageAt(1, 3, 3)).entry, Entry(10));
  EXPECT_EQ(psc.Find(kTag, PageAt(2, 2, 3)).level, PagingLevel::kPte);
}

TEST(PagingStructureCaches, TagsKeepAddressSpacesApart) {
  PagingStructureCaches psc(SmallConfig());
  psc.Fill(kTag, PageAt(0, 0, 0), PagingLevel::kPde, Entry(1));
  EXPECT_EQ(psc.Find(kOther, PageAt(0, 0, 0)).level, PagingLevel::kPte);
}

TEST(PagingStructureCaches, LeastRecentlyUsedOfASetMakesRoom) {
  PagingStructureCaches psc(SmallConfig());  // PDE: 4 sets of 2
  psc.Fill(kTag, PageAt(0, 0, 0), PagingLevel::kPde, Entry(1));
  psc.Fill(kTag, PageAt(0, 0, 4), PagingLevel::kPde, Entry(2));
  psc.Fill(kTag, PageAt(0, 0, 1), PagingLevel::kPde, Entry(9));  // other set
  psc.Find(kTag, PageAt(0, 0, 0));
  psc.Fill(kTag, PageAt(0, 0, 8), PagingLevel::kPde, Entry(3));
  EXPECT_TRUE(psc.Contains(kTag, PageAt(0, 0, 0), PagingLevel::kPde));
  EXPECT_FALSE(psc.Contains(kTag, PageAt(0, 0, 4), PagingLevel::kPde));
  EXPECT_TRUE(psc.Contains(kTag, PageAt(0, 0, 8), PagingLevel::kPde));
  EXPECT_TRUE(psc.Contains(kTag, PageAt(0, 0, 1), PagingLevel::kPde));
}

TEST(PagingStructureCaches, InvlpgDropsThePcidOrTheAddress) {
  for (const InvlpgScope scope : {InvlpgScope::kPcid, InvlpgScope::kAddress}) {
    PscConfig config = SmallConfig();
    config.invlpg_scope = scope;
    PagingStructureCaches psc(config);
    psc.Fill(kTag, PageAt(0, 0, 0), PagingLevel::kPde, Entry(1));
    psc.Fill(kTag, PageAt(0, 0, 0), PagingLevel::kPdpte, Entry(2));
    psc.Fill(kTag, PageAt(0, 0, 1), PagingLevel::kPde, Entry(3));
    psc.Fill(kOther, PageAt(0, 0, 0), PagingLevel::kPde, Entry(4));
    const bool whole = scope == InvlpgScope::kPcid;
    EXPECT_EQ(psc.Invlpg(kTag, PageAt(0, 0, 0)), whole ? 3u : 2u);
    EXPECT_EQ(psc.Contains(kTag, PageAt(0, 0, 1), PagingLevel::kPde), !whole);
    EXPECT_TRUE(psc.Contains(kOther, PageAt(0, 0, 0), PagingLevel::kPde));
  }
}

TEST(PagingStructureCaches, AbsentCachesHoldNothing) {
  PagingStructureCaches psc(PscConfig{});
  for (const PagingLevel level : kCachedLevels) {
    psc.Fill(kTag, PageAt(0, 0, 0), level, Entry(1));
    EXPECT_EQ(psc.size(level), 0u);
  }
  EXPECT_EQ(psc.Find(kTag, PageAt(0, 0, 0)).level, PagingLevel::kPte);
  EXPECT_EQ(psc.InvalidateAddress(kTag, PageAt(0, 0, 0)), 0u);
  EXPECT_EQ(psc.InvalidateAll(), 0u);
}

TEST(PagingStructureCaches, DigestResolvesTagsAndForgetsHistory) {
  PagingStructureCaches a(SmallConfig());
  PagingStructureCaches b(SmallConfig());
  ContextTable a_contexts;
  ContextTable b_contexts;
  const AddressSpaceTag space{Vpid(0), Pcid(5), ThreadSlot(0), false};
  b_contexts.Intern({Vpid(0), Pcid(9), ThreadSlot(0), false});
  const ContextTag a_tag = a_contexts.Intern(space);
  const ContextTag b_tag = b_contexts.Intern(space);
  ASSERT_NE(a_tag, b_tag);
  a.Fill(a_tag, PageAt(0, 0, 0), PagingLevel::kPde, Entry(1));
  b.Fill(b_tag, PageAt(0, 0, 4), PagingLevel::kPde, Entry(8));
  b.InvalidateAll();
  b.Fill(b_tag, PageAt(0, 0, 0), PagingLevel::kPde, Entry(1));
  b.Find(b_tag, PageAt(0, 0, 0));
  EXPECT_EQ(FingerprintOf(a, a_contexts), FingerprintOf(b, b_contexts));
}

TEST(PagingStructureCaches, AnyChangedCellChangesTheDigest) {
  const ContextTable contexts = Contexts(2);
  PagingStructureCaches base(SmallConfig());
  base.Fill(kTag, PageAt(0, 0, 0), PagingLevel::kPde, Entry(1));
  base.Fill(kTag, PageAt(0, 0, 4), PagingLevel::kPde, Entry(2));
  const std::vector<std::function<void(PagingStructureCaches&)>> changes = {
      [](auto& psc) { psc.Find(kTag, PageAt(0, 0, 0)); },  // order of use
      [](auto& psc) { psc.InvalidateAddress(kTag, PageAt(0, 0, 0)); },
      [](auto& psc) {
        psc.Fill(kTag, PageAt(0, 0, 4), PagingLevel::kPde, Entry(3));
      },
      [](auto& psc) {
        psc.Fill(kTag, PageAt(0, 0, 4), PagingLevel::kPde,
                 {FrameNumber(2), false, true, false});
      },
      [](auto& psc) {
        psc.Fill(kTag, PageAt(0, 0, 4), PagingLevel::kPde,
                 {FrameNumber(2), true, false, false});
      },
      [](auto& psc) {
        psc.Fill(kTag, PageAt(0, 0, 4), PagingLevel::kPde,
                 {FrameNumber(2), true, true, true});
      },
      [](auto& psc) {
        psc.Fill(kOther, PageAt(0, 0, 4), PagingLevel::kPde, Entry(2));
      },
      [](auto& psc) {
        psc.Fill(kTag, PageAt(0, 0, 4), PagingLevel::kPdpte, Entry(2));
      }};
  for (const auto& change : changes) {
    PagingStructureCaches changed = base;
    EXPECT_EQ(FingerprintOf(changed, contexts), FingerprintOf(base, contexts));
    change(changed);
    EXPECT_NE(FingerprintOf(changed, contexts), FingerprintOf(base, contexts));
    EXPECT_FALSE(changed == base);
  }
}

class Differential {
 public:
  Differential(const PscConfig& config, uint64_t seed)
      : psc_(config), twin_(config), rng_(seed) {}

  void Step() {
    const ContextTag tag(static_cast<uint16_t>(1 + rng_.Below(3)));
    const VirtPage page = RandomPage();
    const PagingLevel level = kCachedLevels[rng_.Below(4)];
    const uint64_t choice = rng_.Below(100);
    if (choice < 45) {
      ASSERT_EQ(psc_.Find(tag, page), twin_.Find(tag, page));
    } else if (choice < 90) {
      const PscEntry entry{FrameNumber(rng_.Below(1000)), rng_.Below(2) == 0,
                           rng_.Below(2) == 0, rng_.Below(2) == 0};
      psc_.Fill(tag, page, level, entry);
      twin_.Fill(tag, page, level, entry);
    } else if (choice < 94) {
      ASSERT_EQ(psc_.Invlpg(tag, page), twin_.Invlpg(tag, page));
    } else if (choice < 98) {
      ASSERT_EQ(psc_.InvalidateAddress(tag, page),
                twin_.InvalidateAddress(tag, page));
    } else if (choice < 99) {
      ASSERT_EQ(psc_.InvalidateTag(tag), twin_.InvalidateTag(tag));
    } else {
      ASSERT_EQ(psc_.InvalidateAll(), twin_.InvalidateAll());
    }
    CheckInvariants();
  }

  const PagingStructureCaches& psc() const { return psc_; }

 private:
  VirtPage RandomPage() {
    const uint64_t spread = rng_.Below(2) == 0 ? 2 : 6;
    return VirtPage(rng_.Below(spread) << 36 | rng_.Below(spread) << 27 |
                    rng_.Below(spread) << 18 | rng_.Below(spread) << 9 |
                    rng_.Below(512));
  }

  void CheckInvariants() {
    for (const PagingLevel level : kCachedLevels) {
      ASSERT_EQ(psc_.size(level), twin_.size(level));
    }
    const VirtPage page = RandomPage();
    for (uint16_t tag = 1; tag <= 3; ++tag) {
      for (const PagingLevel level : kCachedLevels) {
        ASSERT_EQ(psc_.Contains(ContextTag(tag), page, level),
                  twin_.Contains(ContextTag(tag), page, level));
      }
    }
  }

  PagingStructureCaches psc_;
  ReferencePagingStructureCaches twin_;
  Rng rng_;
};

TEST(PagingStructureCaches, AgreesWithTheNaiveTwin) {
  const PscConfig configs[] = {
      SmallConfig(),
      {.pml5e = 2, .pml4e = 4, .pdpte = 4, .pde = 32, .pde_ways = 4},
      {.pdpte = 3, .pde = 5, .invlpg_scope = InvlpgScope::kAddress},
      {.pml4e = 1, .pde = 4, .pde_ways = 1}};
  uint64_t seed = 1;
  for (const PscConfig& config : configs) {
    Differential run(config, seed++);
    for (int i = 0; i < 20000; ++i) {
      ASSERT_NO_FATAL_FAILURE(run.Step()) << "seed " << seed << " step " << i;
    }
  }
}

TEST(PagingStructureCaches, ACopyDrivenOnEqualsItsOriginal) {
  Differential original(SmallConfig(), 7);
  for (int i = 0; i < 500; ++i) original.Step();
  Differential copy = original;
  const PagingStructureCaches before = copy.psc();
  for (int i = 0; i < 500; ++i) original.Step();
  EXPECT_TRUE(copy.psc() == before);  // shares nothing
  for (int i = 0; i < 500; ++i) copy.Step();
  EXPECT_TRUE(copy.psc() == original.psc());
  const ContextTable contexts = Contexts(3);
  EXPECT_EQ(FingerprintOf(copy.psc(), contexts),
            FingerprintOf(original.psc(), contexts));
}

TEST(PscConfig, ErrorsNameKeyValueAndWhatIsAllowed) {
  const struct {
    PscConfig config;
    std::string want;
  } cases[] = {
      {SmallConfig(), ""},
      {{}, ""},
      {{.pde = 24, .pde_ways = 4},
       "psc.pde_ways = 4: psc.pde (24) divided by the ways must be a power of "
       "two; 0 is fully associative"},
      {{.pde_ways = 4},
       "psc.pde_ways = 4: psc.pde = 0 leaves the cache out, so it has no ways: "
       "set psc.pde_ways = 0 too"},
      {{.pdpte = 65537}, "psc.pdpte = 65537: must be between 0 and 65536"}};
  for (const auto& [config, want] : cases) {
    EXPECT_EQ(Message(Validate(config)), want);
  }
}

}  // namespace
}  // namespace lookaside
