// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_edit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/config/config_key.h"
#include "lookaside/config/config_loader.h"

namespace lookaside {
namespace {

SimConfig Skylake() { return LoadPreset("skylake-sp").value(); }

size_t RowsOf(std::string_view group) {
  return static_cast<size_t>(std::ranges::count_if(
      SimKeys(),
      [&](const auto& key) { return key.shape.name.starts_with(group); }));
}

// A structured binding fails to compile when a struct gains a field, and so
// reminds of the row that the table lacks.
TEST(SimKeys, HaveARowForEveryField) {
  [[maybe_unused]] const auto& [machine, tlb, psc, walk, paging, kernel, cost,
                                replay] = SimConfig();
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, m7, m8] = machine;
  EXPECT_EQ(RowsOf("machine."), 8u);
  [[maybe_unused]] const auto& [arrays, inclusion] = tlb;
  EXPECT_EQ(RowsOf("tlb."), 1u);
  [[maybe_unused]] const auto& [s1, s2, s3, s4, s5, s6] = psc;
  EXPECT_EQ(RowsOf("psc."), 6u);
  [[maybe_unused]] const auto& [w1, w2, w3, w4, l1, l2, l3, w5, w6] = walk;
  [[maybe_unused]] const auto& [lines, ways, cycles] = l1;
  EXPECT_EQ(RowsOf("walk."), 6u + 3u * 3u);
  [[maybe_unused]] const auto& [p1, p2, p3] = paging;
  EXPECT_EQ(RowsOf("paging."), 3u);
  [[maybe_unused]] const auto& [k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11,
                                k12, k13, k14] = kernel;
  EXPECT_EQ(RowsOf("kernel."), 14u);
  [[maybe_unused]] const auto& [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11,
                                c12, c13, c14, c15, c16, c17, c18, c19, c20,
                                c21, c22, c23, c24, c25, c26, c27, c28, c29,
                                c30, c31, c32, c33, c34] = cost;
  EXPECT_EQ(RowsOf("cost."), 2u * 34u);
  [[maybe_unused]] const auto& [r1, r2, r3, r4, r5, r6, r7, r8, r9] = replay;
  EXPECT_EQ(RowsOf("replay."), 9u);
  [[maybe_unused]] const auto& [name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,
                                a11] = TlbConfig();
  EXPECT_EQ(ArrayKeys().size(), 11u);
}

TEST(Set, TakesTomlValuesAndBareWords) {
  SimConfig config = Skylake();
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"machine.sockets", "4"},
      {"machine.mhz", "3_000"},
      {"tlb.stlb.replacement", "lru"},
      {"tlb.stlb.hash", "\"linear\""},
      {"tlb.stlb.pages", "[\"1G\", \"4K\"]"},
      {"tlb.dtlb_2m.pages", "4K,2M"},
      {"tlb.dtlb_1g.pages", "2M"},
      {"tlb.stlb.pcid_slots", "unlimited"},
      {"tlb.stlb.fracture", "true"},
      {"walk.overlap", "0.375"},
      {"walk.data_pressure", "1"},
      {"paging.node_memory", "64G"},
      {"cost.invlpg_ns", "100"},
      {"machine.features", "pcid,invlpgb"},
      {"kernel.flush.ceiling", "0"},
      {"kernel.flush.shift", "auto"},
      {"kernel.unfixed", "[\"eb66ae030829\"]"},
      {"replay.warmup", "0x10"},
  };
  for (const auto& [key, value] : settings) {
    EXPECT_TRUE(Set(config, key, value).ok()) << Set(config, key, value);
  }
  EXPECT_EQ(config.machine.sockets, 4u);
  EXPECT_EQ(config.machine.mhz, 3000u);
  EXPECT_EQ(config.machine.features,
            (CpuFeatures{.pcid = true, .invpcid = false, .invlpgb = true}));
  EXPECT_EQ(config.kernel.flush_ceiling, 0u);
  EXPECT_EQ(config.kernel.flush_shift, std::nullopt);
  EXPECT_TRUE(config.kernel.unfixed.Has(KernelFix::kMremapFlushUnderLock));
  const TlbConfig& stlb = config.tlb.arrays[5];
  EXPECT_EQ(stlb.name, "stlb");
  EXPECT_EQ(stlb.replacement, TlbReplacement::kLru);
  EXPECT_EQ(stlb.hash, TlbHash::kLinear);
  EXPECT_EQ(stlb.pages, (PageSizeSet{PageSize::k4K, PageSize::k1G}));
  EXPECT_EQ(stlb.pcid_slots, TlbConfig::kNoPcidLimit);
  EXPECT_TRUE(stlb.fracture);
  EXPECT_EQ(config.tlb.arrays[3].pages,
            (PageSizeSet{PageSize::k4K, PageSize::k2M}));
  EXPECT_EQ(config.tlb.arrays[4].pages, PageSizeSet{PageSize::k2M});
  EXPECT_EQ(config.walk.overlap, Permille(375));
  EXPECT_EQ(config.walk.data_pressure, Permille(1000));
  EXPECT_EQ(config.paging.node_memory, uint64_t{64} << 30);
  EXPECT_EQ(config.cost.invlpg, (CostAmount{100, CostUnit::kNanoseconds}));
  EXPECT_EQ(config.replay.warmup, 16u);
}

TEST(Set, RemovesButNeverCreatesAnArray) {
  SimConfig config = Skylake();
  EXPECT_TRUE(Set(config, "tlb.stlb.entries", "0").ok());
  EXPECT_EQ(config.tlb.arrays.size(), 6u);
  EXPECT_FALSE(Set(config, "tlb.stlb.entries", "16").ok());
  EXPECT_EQ(config.tlb.arrays.size(), 6u);
}

// What Resolve() says, Set() accepts: one leads to the other and back.
TEST(Resolve, IsWhatSetTakes) {
  SimConfig config = LoadPreset("zen4").value();
  config.cost.refill = CostAmount{7, CostUnit::kNanoseconds};
  config.walk.overlap = Permille(1);
  for (const ResolvedKey& key : Resolve(config)) {
    SimConfig copy = config;
    EXPECT_TRUE(Set(copy, key.key, ToToml(key.value)).ok()) << key.key;
    EXPECT_EQ(copy, config) << key.key;
  }
}

TEST(Resolve, OfTextbookBeginsWithTheMachineAndItsArrays) {
  const std::vector<ResolvedKey> keys = Resolve(LoadPreset("textbook").value());
  ASSERT_GT(keys.size(), 7u);
  EXPECT_EQ(keys[0], (ResolvedKey{"machine.sockets", uint64_t{1}}));
  EXPECT_EQ(keys[8], (ResolvedKey{"tlb.inclusion", std::string("none")}));
  EXPECT_EQ(keys[9], (ResolvedKey{"tlb.itlb_4k.level", uint64_t{1}}));
  EXPECT_EQ(keys.back(), (ResolvedKey{"replay.strict", false}));
}

TEST(ConfigHash, ChangesWithEveryKey) {
  const SimConfig config = Skylake();
  const std::string hash = ConfigHash(config);
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(ConfigHash(Skylake()), hash);
  SimConfig changed = config;
  changed.replay.warmup = 1;
  EXPECT_NE(ConfigHash(changed), hash);
  changed = config;
  changed.cost.invlpg.unit = CostUnit::kNanoseconds;
  EXPECT_NE(ConfigHash(changed), hash);
  changed = config;
  std::swap(changed.tlb.arrays[0], changed.tlb.arrays[1]);
  EXPECT_NE(ConfigHash(changed), hash);
}

// Pieces that parsers stumble over, between bytes of any kind.
std::string Garbage(Rng& rng, const std::vector<std::string>& pieces) {
  std::string text;
  for (uint64_t n = rng.Below(6); n > 0; --n) {
    if (rng.Below(4) == 0) {
      text += static_cast<char>(rng.Below(256));
    } else {
      text += pieces[rng.Below(pieces.size())];
    }
  }
  return text;
}

TEST(Set, SurvivesGarbage) {
  const std::vector<std::string> values = {"4K",
                                           ",",
                                           "[",
                                           "]",
                                           "\"",
                                           "'''",
                                           "{",
                                           "}",
                                           "=",
                                           "1",
                                           "-",
                                           "_",
                                           "0x",
                                           ".",
                                           "e9",
                                           "nan",
                                           "inf",
                                           "\n",
                                           "\\u0",
                                           "#",
                                           "\r",
                                           "lru",
                                           "true",
                                           "T",
                                           "18446744073709551616",
                                           "1979-05-27",
                                           "none",
                                           "2M",
                                           " ",
                                           "\xff",
                                           "\xc3\xa9",
                                           std::string(1, '\0')};
  std::vector<std::string> keys = {".", "tlb.", "stlb", "x", "=", " ", "\n"};
  for (const ResolvedKey& key : Resolve(Skylake())) keys.push_back(key.key);
  Rng rng(7);
  SimConfig config = Skylake();
  for (int i = 0; i < 20000; ++i) {
    const std::string key =
        rng.Below(2) == 0 ? keys[rng.Below(keys.size())] : Garbage(rng, keys);
    const absl::Status status = Set(config, key, Garbage(rng, values));
    if (!status.ok()) {
      EXPECT_EQ(status.message().find('\n'), absl::string_view::npos) << status;
    }
  }
  (void)Validate(config);
}

TEST(LoadConfigText, SurvivesGarbage) {
  const std::vector<std::string> pieces = {"[",
                                           "]",
                                           "=",
                                           "\n",
                                           "\"",
                                           "tlb.",
                                           "stlb",
                                           "[tlb.stlb]\n",
                                           "entries",
                                           "1",
                                           "base",
                                           "none",
                                           " = ",
                                           "{",
                                           "}",
                                           "#",
                                           "'",
                                           ",",
                                           "\"4K\"",
                                           "\r\n",
                                           "walk.overlap = 0.5",
                                           "\xff",
                                           "[[",
                                           "]]",
                                           "nan",
                                           "description"};
  Rng rng(11);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int part = 0; part < 4; ++part) text += Garbage(rng, pieces);
    const auto loaded = LoadConfigText("garbage.toml", text);
    if (!loaded.ok()) {
      EXPECT_EQ(loaded.status().message().find('\n'), absl::string_view::npos)
          << loaded.status();
    }
  }
}

}  // namespace
}  // namespace lookaside
