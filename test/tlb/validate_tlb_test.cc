// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/validate_tlb.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/test/tlb/tlb_test_config.h"

namespace lookaside {
namespace {

constexpr size_t kItlb = 0, kDtlb = 1, kStlb = 2;

TlbHierarchyConfig Good() {
  TlbHierarchyConfig config;
  config.arrays = {
      Named("itlb_4k", 1, TlbSide::kInst, {PageSize::k4K},
            ArrayOf(128, 8, TlbReplacement::kTreePlru)),
      Named("dtlb_4k", 1, TlbSide::kData, {PageSize::k4K},
            ArrayOf(64, 4, TlbReplacement::kTreePlru)),
      Named("stlb", 2, TlbSide::kUnified, {PageSize::k4K, PageSize::k2M},
            ArrayOf(1536, 12, TlbReplacement::kMru3Plru4, TlbHash::kXor7))};
  return config;
}

struct Case {
  std::function<void(TlbHierarchyConfig&)> change;
  std::string error;  // empty: none
  uint32_t threads = 2;
};

void Check(const std::vector<Case>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    TlbHierarchyConfig config = Good();
    cases[i].change(config);
    EXPECT_EQ(Message(Validate(config, cases[i].threads)), cases[i].error)
        << "case " << i;
  }
}

TEST(ValidateTlb, AcceptsWhatCanBeBuilt) {
  Check({
      {[](auto&) {}, ""},
      {[](auto& c) { c.arrays[kDtlb].smt = TlbSmt::kPartitioned; }, ""},
      {[](auto& c) { c.arrays[kStlb].smt = TlbSmt::kReplicated; }, "", 64},
      {[](auto& c) { c.arrays.pop_back(); }, ""},
      {[](auto& c) {
         c.arrays[kDtlb].side = TlbSide::kUnified;
         c.arrays.erase(c.arrays.begin());
       },
       ""},
      {[](auto& c) {
         c.arrays[kDtlb].entries = c.arrays[kDtlb].ways = 1u << 20;
         c.arrays[kDtlb].replacement = TlbReplacement::kLru;
       },
       ""},
      {[](auto& c) {
         c.arrays.push_back(c.arrays[kStlb]);
         c.arrays.back().name = "stlb_1";
       },
       ""},
  });
}

TEST(ValidateTlb, AcceptsSixtyFourArrays) {
  TlbHierarchyConfig config;
  struct Kind {
    uint32_t level;
    TlbSide side;
    PageSize size;
  };
  for (const Kind& kind : {Kind{1, TlbSide::kInst, PageSize::k4K},
                           Kind{1, TlbSide::kInst, PageSize::k2M},
                           Kind{1, TlbSide::kInst, PageSize::k1G},
                           Kind{1, TlbSide::kData, PageSize::k4K},
                           Kind{1, TlbSide::kData, PageSize::k2M},
                           Kind{1, TlbSide::kData, PageSize::k1G},
                           Kind{2, TlbSide::kInst, PageSize::k4K},
                           Kind{2, TlbSide::kData, PageSize::k4K}}) {
    for (size_t bank = 0; bank < kMaxTlbBanks; ++bank) {
      const std::string name = std::to_string(config.arrays.size());
      config.arrays.push_back(Named(name, kind.level, kind.side, {kind.size},
                                    ArrayOf(8, 4, TlbReplacement::kLru)));
    }
  }
  ASSERT_EQ(config.arrays.size(), 64u);
  EXPECT_EQ(Message(Validate(config, 2)), "");
}

TEST(ValidateTlb, NamesTheKeyOfAnImpossibleShape) {
  Check({
      {[](auto& c) { c.arrays[kDtlb].level = 0; },
       "tlb.dtlb_4k.level = 0: a level is 1 or 2"},
      {[](auto& c) { c.arrays[kDtlb].level = 3; },
       "tlb.dtlb_4k.level = 3: a level is 1 or 2"},
      {[](auto& c) { c.arrays[kDtlb].pages = {}; },
       "tlb.dtlb_4k.pages is empty: an array holds at least one of \"4K\", "
       "\"2M\", \"1G\""},
      {[](auto& c) { c.arrays[kDtlb].entries = 0; },
       "tlb.dtlb_4k.entries = 0: an array has 1 to 1048576 entries"},
      {[](auto& c) { c.arrays[kDtlb].entries = (1u << 20) + 1; },
       "tlb.dtlb_4k.entries = 1048577: an array has 1 to 1048576 entries"},
      {[](auto& c) { c.arrays[kDtlb].ways = 0; },
       "tlb.dtlb_4k.ways = 0: the ways must divide the entries (64)"},
      {[](auto& c) { c.arrays[kDtlb].ways = 5; },
       "tlb.dtlb_4k.ways = 5: the ways must divide the entries (64)"},
      {[](auto& c) { c.arrays[kDtlb].ways = 128; },
       "tlb.dtlb_4k.ways = 128: the ways must divide the entries (64)"},
      {[](auto& c) { c.arrays[kDtlb].entries = 96; },
       "tlb.dtlb_4k.entries = 96: 4 ways make 24 sets, which is not a power "
       "of two"},
  });
}

TEST(ValidateTlb, NamesThePolicyThatDoesNotSuit) {
  Check({
      {[](auto& c) { c.arrays[kStlb].replacement = TlbReplacement::kTreePlru; },
       "tlb.stlb.replacement: tree_plru wants a power of two of at most 64 "
       "ways, and stlb has 12"},
      {[](auto& c) { c.arrays[kDtlb].entries = c.arrays[kDtlb].ways = 128; },
       "tlb.dtlb_4k.replacement: tree_plru wants a power of two of at most 64 "
       "ways, and dtlb_4k has 128"},
      {[](auto& c) {
         c.arrays[kStlb].replacement = TlbReplacement::kMru3Plru2;
       },
       "tlb.stlb.replacement: mru3_plru2 wants 6 ways, and stlb has 12"},
      {[](auto& c) {
         c.arrays[kDtlb].replacement = TlbReplacement::kMru3Plru4;
       },
       "tlb.dtlb_4k.replacement: mru3_plru4 wants 12 ways, and dtlb_4k has 4"},
      {[](auto& c) { c.arrays[kStlb].entries = 3072; },
       "tlb.stlb.hash = \"xor7\": it reaches 128 sets, and 3072 entries of 12 "
       "ways make 256; choose another hash or more ways"},
      {[](auto& c) {
         c.arrays[kStlb].entries = 6144;
         c.arrays[kStlb].hash = TlbHash::kXor8;
       },
       "tlb.stlb.hash = \"xor8\": it reaches 256 sets, and 6144 entries of 12 "
       "ways make 512; choose another hash or more ways"},
  });
}

TEST(ValidateTlb, NamesAPartitionThatCannotBeMade) {
  Check({
      {[](auto& c) { c.arrays[kDtlb].smt = TlbSmt::kPartitioned; },
       "tlb.dtlb_4k.smt = \"partitioned\": 64 entries cannot be divided among "
       "65 threads",
       65},
      {[](auto& c) {
         c.arrays[kStlb].entries = 12;
         c.arrays[kStlb].smt = TlbSmt::kPartitioned;
       },
       "tlb.stlb.replacement: mru3_plru4 wants 12 ways, and stlb has 6 per "
       "thread"},
  });
}

TEST(ValidateTlb, NamesArraysThatDoNotFitTogether) {
  Check({
      {[](auto& c) { c.arrays[kStlb].name = "dtlb_4k"; },
       "tlb.dtlb_4k is given 2 times"},
      {[](auto& c) { c.arrays[kItlb].pages = {PageSize::k2M}; },
       "no tlb.<name> of level 1 and side \"inst\" holds 4K pages: each side "
       "needs one"},
      {[](auto& c) {
         c.arrays[kDtlb].level = 2;
         c.arrays.pop_back();
       },
       "no tlb.<name> of level 1 and side \"data\" holds 4K pages: each side "
       "needs one"},
      {[](auto& c) {
         c.arrays.push_back(c.arrays[kStlb]);
         c.arrays.back().name = "stlb_1";
         c.arrays.back().entries = 768;
       },
       "tlb.stlb and tlb.stlb_1 both hold 4K pages on level 2: such banks must "
       "have the same number of sets (128 and 64)"},
      {[](auto& c) {
         for (const char* name : {"stlb_1", "stlb_2"}) {
           c.arrays.push_back(c.arrays[kStlb]);
           c.arrays.back().name = name;
         }
       },
       "tlb.stlb: 3 arrays hold 4K pages on level 2; the number of banks must "
       "be a power of two, at most 8"},
      {[](auto& c) {
         for (int i = 0; i < 62; ++i) {
           c.arrays.push_back(c.arrays[kStlb]);
           c.arrays.back().name = std::to_string(i);
         }
       },
       "65 TLB arrays: at most 64 are possible"},
  });
}

}  // namespace
}  // namespace lookaside
