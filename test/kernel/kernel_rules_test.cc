// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/kernel_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"

namespace lookaside {
namespace {

KernelRules Rules(const std::string& preset, const std::string& version) {
  SimConfig config = *LoadPreset(preset);
  EXPECT_TRUE(Set(config, "kernel.version", version).ok());
  return KernelRules::From(config.kernel, config.machine, config.tlb);
}

TEST(KernelRulesTest, EachVersionHasItsOwnDefaults) {
  struct Row {
    std::string version;
    FlushPolicyKind policy;
    LazyMode lazy;
    bool pcid, generations, concurrent, trims;
    uint32_t vectors;
  };
  using P = FlushPolicyKind;
  using L = LazyMode;
  const Row rows[] = {
      {"linux_3.4", P::kAlwaysFull, L::kIpi, false, false, false, false, 32},
      {"linux_3.6", P::kShift, L::kIpi, false, false, false, false, 0},
      {"linux_3.17", P::kCeiling, L::kIpi, false, false, false, false, 0},
      {"linux_4.14", P::kCeiling, L::kOff, true, true, false, false, 0},
      {"linux_5.13", P::kCeiling, L::kSkip, true, true, true, false, 0},
      {"linux_6.15", P::kCeiling, L::kSkip, true, true, true, true, 0},
  };
  for (const Row& row : rows) {
    const KernelRules rules = Rules("skylake-sp", row.version);
    EXPECT_EQ(rules.policy, row.policy) << row.version;
    EXPECT_EQ(rules.lazy, row.lazy) << row.version;
    EXPECT_EQ(rules.pcid, row.pcid) << row.version;
    EXPECT_EQ(rules.generations, row.generations) << row.version;
    EXPECT_EQ(rules.concurrent, row.concurrent) << row.version;
    EXPECT_EQ(rules.trims_cpumask, row.trims) << row.version;
    EXPECT_EQ(rules.flush_vectors, row.vectors) << row.version;
    EXPECT_EQ(rules.ceiling, 33u) << row.version;
  }
}

TEST(KernelRulesTest, GivenKeysTakeThePlaceOfDefaults) {
  SimConfig config = *LoadPreset("skylake-sp");
  for (const auto& [key, value] : {std::pair("kernel.version", "linux_3.4"),
                                   {"kernel.flush.policy", "ceiling"},
                                   {"kernel.flush.ceiling", "7"},
                                   {"kernel.flush.shift", "2"},
                                   {"kernel.lazy", "off"}}) {
    ASSERT_TRUE(Set(config, key, value).ok()) << key;
  }
  const KernelRules rules =
      KernelRules::From(config.kernel, config.machine, config.tlb);
  EXPECT_EQ(rules.policy, FlushPolicyKind::kCeiling);
  EXPECT_EQ(rules.ceiling, 7u);
  EXPECT_EQ(rules.shift, 2);
  EXPECT_EQ(rules.lazy, LazyMode::kOff);
  EXPECT_EQ(rules.flush_vectors, 32u);  // still the version's
}

TEST(KernelRulesTest, PcidsNeedTheProcessorToo) {
  EXPECT_FALSE(Rules("nehalem-ep", "linux_4.14").pcid);
  EXPECT_EQ(Rules("nehalem-ep", "linux_4.14").lazy, LazyMode::kIpi);
  EXPECT_TRUE(Rules("westmere-ep", "linux_4.14").pcid);
  EXPECT_FALSE(Rules("westmere-ep", "linux_4.14").invpcid);
  EXPECT_TRUE(Rules("haswell-ep", "linux_4.14").invpcid);
}

TEST(KernelRulesTest, TheShiftIsTheModels) {
  const std::pair<uint32_t, int> rows[] = {
      {0x60f, -1}, {0x61d, -1}, {0x61a, 6}, {0x62c, 6}, {0x62a, 5},
      {0x62d, 5},  {0x63a, 1},  {0x63e, 6}, {0x63c, 6}, {0, 6}};
  for (const auto& [model, shift] : rows) {
    EXPECT_EQ(FlushAllShift(model), shift) << model;
  }
  EXPECT_EQ(Rules("nehalem-ep", "linux_3.6").shift, 6);
  EXPECT_EQ(Rules("sandybridge-ep", "linux_3.6").shift, 5);
}

TEST(KernelRulesTest, TheLastLevelIsWhatCpuidTells) {
  EXPECT_EQ(LastLevelOf(LoadPreset("nehalem-ep")->tlb),
            (LastLevelEntries{512, 512}));
  TlbHierarchyConfig first_only = LoadPreset("textbook")->tlb;
  std::erase_if(first_only.arrays, [](const auto& a) { return a.level == 2; });
  EXPECT_EQ(LastLevelOf(first_only), (LastLevelEntries{32, 32}));
}

std::string ErrorOf(const std::string& preset, const std::string& version,
                    const std::string& key, const std::string& value) {
  SimConfig config = *LoadPreset(preset);
  EXPECT_TRUE(Set(config, "kernel.version", version).ok());
  EXPECT_TRUE(Set(config, key, value).ok());
  return Message(Validate(config));
}

TEST(KernelRulesTest, WhatAVersionCannotDoIsAnError) {
  EXPECT_EQ(ErrorOf("skylake-sp", "linux_3.17", "kernel.kpti", "true"),
            "kernel.kpti = true: linux_3.17 has no page-table isolation; "
            "linux_4.14 is the first that has");
  EXPECT_EQ(ErrorOf("skylake-sp", "linux_3.6", "kernel.lazy", "skip"),
            "kernel.lazy = \"skip\": linux_3.6 has no generations to catch up "
            "by; linux_4.14 is the first that has");
  EXPECT_EQ(ErrorOf("zen3", "linux_4.14", "kernel.kpti", "true"), "");
}

TEST(KernelRulesTest, FixesAreTakenOutByName) {
  SimConfig config = *LoadPreset("skylake-sp");
  ASSERT_TRUE(Set(config, "kernel.unfixed", "fea4e317f9e7,eb66ae030829").ok());
  const KernelRules rules =
      KernelRules::From(config.kernel, config.machine, config.tlb);
  EXPECT_FALSE(rules.Fixed(KernelFix::kMremapFlushUnderLock));
  EXPECT_FALSE(rules.Fixed(KernelFix::kSwitchingSentinel));
  EXPECT_TRUE(rules.Fixed(KernelFix::kNestedGather));
  ASSERT_TRUE(Set(config, "kernel.unfixed", "").ok());
  EXPECT_TRUE(config.kernel.unfixed.empty());
  EXPECT_FALSE(Set(config, "kernel.unfixed", "deadbeef").ok());
}

}  // namespace
}  // namespace lookaside
