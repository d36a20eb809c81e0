// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/config/config_show.h"

namespace lookaside {
namespace {

LoadedConfig Load(const std::string& preset) {
  auto loaded = LoadConfig({.file = "", .cpu = preset, .sets = {}});
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.value_or(LoadedConfig());
}

const TlbConfig* Find(const SimConfig& config, std::string_view name) {
  for (const TlbConfig& array : config.tlb.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

std::string Geometry(const SimConfig& config, std::string_view name) {
  const TlbConfig* const array = Find(config, name);
  if (array == nullptr) return "none";
  const std::string entries = std::to_string(array->entries);
  return entries + "x" +
         (array->ways == array->entries ? "FA" : std::to_string(array->ways));
}

TEST(Presets, AreTheSeventeenPromised) {
  EXPECT_EQ(PresetNames(),
            (std::vector<std::string>{
                "alderlake-p", "broadwell-ep", "haswell-ep", "icelake-sp",
                "ivybridge-ep", "nehalem-ep", "neoverse-n1", "neoverse-v1",
                "sandybridge-ep", "sapphirerapids", "skylake-sp", "textbook",
                "westmere-ep", "zen1", "zen2", "zen3", "zen4"}));
}

TEST(Presets, HaveDescriptions) {
  for (const PresetInfo& preset : ListPresets()) {
    EXPECT_NE(preset.description, "") << preset.name;
  }
}

class PresetTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, PresetTest, testing::ValuesIn(PresetNames()),
                         [](const auto& preset) {
                           std::string name = preset.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST_P(PresetTest, LoadsAndValidates) {
  const auto config = LoadPreset(GetParam());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(Validate(*config).ok()) << Validate(*config);
  EXPECT_EQ(*config, Load(GetParam()).config);
}

TEST_P(PresetTest, RoundTripsThroughShow) {
  const LoadedConfig loaded = Load(GetParam());
  const std::string text = ShowConfig(loaded);
  const auto again = LoadConfigText("shown.toml", text);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
  EXPECT_EQ(again->config, loaded.config);
  EXPECT_EQ(again->description, loaded.description);
  EXPECT_EQ(ConfigHash(again->config), ConfigHash(loaded.config));
}

TEST_P(PresetTest, GivesEveryKeyThatDescribesAProcessorWithItsSource) {
  const LoadedConfig loaded = Load(GetParam());
  const std::set<std::string> not_of_a_processor = {"paging.thp",
                                                    "paging.node_memory"};
  for (const ResolvedKey& key : Resolve(loaded.config)) {
    if (not_of_a_processor.contains(key.key)) continue;
    if (key.key.starts_with("kernel.")) continue;
    if (key.key.starts_with("replay.")) continue;
    const auto it = loaded.origins.find(key.key);
    ASSERT_NE(it, loaded.origins.end()) << key.key;
    EXPECT_EQ(it->second.place, "preset " + GetParam()) << key.key;
    EXPECT_NE(it->second.note, "") << key.key;
  }
}

TEST_P(PresetTest, OverridesEveryOtherPresetWhole) {
  const auto loaded = LoadConfig({.file = "", .cpu = GetParam(), .sets = {}});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->config, *LoadPreset(GetParam()));
}

TEST_P(PresetTest, ShowsACommentBehindEveryValue) {
  const std::string text = ShowConfig(Load(GetParam()));
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find(" = ") == std::string::npos) continue;
    if (line.starts_with("description")) continue;
    EXPECT_NE(line.find("  # "), std::string::npos) << line;
  }
}

TEST(SkylakeSp, IsWhatIsPublished) {
  const SimConfig config = *LoadPreset("skylake-sp");
  EXPECT_EQ(Geometry(config, "itlb_4k"), "128x8");
  EXPECT_EQ(Geometry(config, "itlb_2m"), "8xFA");
  EXPECT_EQ(Geometry(config, "dtlb_4k"), "64x4");
  EXPECT_EQ(Geometry(config, "dtlb_2m"), "32x4");
  EXPECT_EQ(Geometry(config, "dtlb_1g"), "4xFA");
  EXPECT_EQ(Geometry(config, "stlb"), "1536x12");
  EXPECT_EQ(Geometry(config, "stlb_1g"), "16x4");
  const TlbConfig& stlb = *Find(config, "stlb");
  EXPECT_EQ(stlb.hash, TlbHash::kXor7);
  EXPECT_EQ(stlb.replacement, TlbReplacement::kMru3Plru4);
  EXPECT_EQ(stlb.pages, (PageSizeSet{PageSize::k4K, PageSize::k2M}));
  EXPECT_EQ(stlb.latency, 9u);
  EXPECT_EQ(stlb.pcid_slots, 4u);
  EXPECT_EQ(Find(config, "dtlb_4k")->pcid_slots, 0u);
  EXPECT_EQ(Find(config, "itlb_4k")->pcid_slots, 1u);
  EXPECT_EQ(config.walk.walkers, 2u);
  EXPECT_EQ(config.psc, (PscConfig{0, 2, 4, 32, 4, InvlpgScope::kPcid}));
  EXPECT_EQ(
      config.machine,
      (TopologyConfig{
          2, 24, 2, 2100, 1, ApicMode::kCluster, 0x655, {true, true, false}}));
  EXPECT_EQ(config.cost.invlpg, (CostAmount{200, CostUnit::kCycles}));
}

TEST(SkylakeSp, ShowCitesItsSources) {
  const std::string text = ShowConfig(Load("skylake-sp"));
  for (const std::string line :
       {"base = \"none\"  # every key is here\n",
        "description = \"Skylake-SP, 2 x Xeon Platinum 8160: 48 cores, 96 "
        "threads\"\n",
        "\n[tlb.stlb]\n",
        "entries = 1536  # Intel Optimization Reference Manual; TLB;DR, USENIX "
        "Security 2022\n",
        "hash = \"xor7\"  # TLB;DR, USENIX Security 2022\n",
        "pde = 32  # default: unpublished; range 24 to 32\n",
        "thp = \"never\"  # default: the simulator's own\n",
        "node_memory = \"1T\"  # default: the simulator's own\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST(Textbook, HasThreeArraysAndNothingElse) {
  const SimConfig config = *LoadPreset("textbook");
  ASSERT_EQ(config.tlb.arrays.size(), 3u);
  EXPECT_EQ(Geometry(config, "itlb_4k"), "32xFA");
  EXPECT_EQ(Geometry(config, "dtlb_4k"), "32xFA");
  EXPECT_EQ(Geometry(config, "stlb"), "1024x4");
  for (const TlbConfig& array : config.tlb.arrays) {
    EXPECT_EQ(array.replacement, TlbReplacement::kLru);
    EXPECT_EQ(array.hash, TlbHash::kLinear);
    EXPECT_EQ(array.pages, PageSizeSet{PageSize::k4K});
  }
  EXPECT_EQ(config.machine.cpus(), 1u);
  EXPECT_EQ(config.psc, PscConfig());
  EXPECT_EQ(config.walk.l1.lines + config.walk.l2.lines + config.walk.l3.lines,
            0u);
}

struct PresetFacts {
  std::string name;
  std::string stlb;  // its 4K array, or that of the data side
  std::string dtlb;
  uint32_t cpus;
  uint32_t walkers;
};

TEST(Presets, HaveThePublishedGeometry) {
  const PresetFacts presets[] = {
      {"nehalem-ep", "512x4", "64x4", 16, 1},
      {"westmere-ep", "512x4", "64x4", 24, 1},
      {"sandybridge-ep", "512x4", "64x4", 32, 1},
      {"ivybridge-ep", "512x4", "64x4", 48, 1},
      {"haswell-ep", "1024x8", "64x4", 72, 1},
      {"broadwell-ep", "1536x6", "64x4", 88, 2},
      {"icelake-sp", "1024x8", "64x4", 112, 2},
      {"sapphirerapids", "1024x8", "96x6", 224, 4},
      {"alderlake-p", "1024x8", "96x6", 16, 4},
      {"zen1", "1536x12", "64xFA", 128, 2},
      {"zen2", "2048x16", "64xFA", 256, 2},
      {"zen3", "2048x16", "64xFA", 256, 6},
      {"zen4", "3072x24", "72xFA", 384, 6},
      {"neoverse-n1", "1280x5", "48xFA", 160, 4},
      {"neoverse-v1", "2048x4", "40xFA", 64, 4},
  };
  for (const PresetFacts& want : presets) {
    const SimConfig config = *LoadPreset(want.name);
    const bool zen = want.name.starts_with("zen");
    const bool one_dtlb = zen || want.name.starts_with("neoverse");
    EXPECT_EQ(Geometry(config, zen ? "stlb_data" : "stlb"), want.stlb)
        << want.name;
    EXPECT_EQ(Geometry(config, one_dtlb ? "dtlb" : "dtlb_4k"), want.dtlb)
        << want.name;
    EXPECT_EQ(config.machine.cpus(), want.cpus) << want.name;
    EXPECT_EQ(config.walk.walkers, want.walkers) << want.name;
  }
}

}  // namespace
}  // namespace lookaside
