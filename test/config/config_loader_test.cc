// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_loader.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_show.h"

namespace lookaside {
namespace {

LoadedConfig Text(const std::string& text) {
  auto loaded = LoadConfigText("my.toml", text);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.value_or(LoadedConfig());
}

LoadedConfig Load(const ConfigRequest& request) {
  auto loaded = LoadConfig(request);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.value_or(LoadedConfig());
}

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

const TlbConfig* Find(const SimConfig& config, std::string_view name) {
  for (const TlbConfig& array : config.tlb.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

TEST(LoadConfig, WithoutAnythingIsTheDefaultPreset) {
  EXPECT_EQ(Load({}).config, *LoadPreset(kDefaultPreset));
  EXPECT_EQ(Text("").config, *LoadPreset(kDefaultPreset));
}

TEST(LoadConfig, BaseNoneInheritsNothing) {
  const auto loaded = LoadConfigText("my.toml", "base = \"none\"");
  ASSERT_FALSE(loaded.ok());  // no array at all
  EXPECT_NE(
      std::string(loaded.status().message()).find("tlb.<name> of level 1"),
      std::string::npos)
      << loaded.status();
}

TEST(LoadConfig, ArrayNamesMayBeginWithAnyOfTheirCharacters) {
  for (const std::string name : {"_", "9"}) {
    const LoadedConfig loaded =
        Text("base = \"textbook\"\n[tlb." + name +
             "]\nlevel = 2\nside = \"inst\"\npages = [\"1G\"]\n"
             "entries = 8\nways = 8\nreplacement = \"lru\"\n"
             "hash = \"linear\"\nsmt = \"replicated\"\nlatency = 0\n");
    EXPECT_NE(Find(loaded.config, name), nullptr);
    EXPECT_EQ(Text(ShowConfig(loaded)).config, loaded.config);
  }
}

TEST(LoadConfig, LaterLayersOverrideEarlierOnes) {
  const std::string file = WriteFile("layers.toml",
                                     "base = \"haswell-ep\"\n"
                                     "description = \"mine\"\n"
                                     "walk.walkers = 3\n"
                                     "replay.warmup = 7\n"
                                     "paging.thp = \"always\"\n");
  const LoadedConfig from_file = Load({.file = file, .cpu = "", .sets = {}});
  EXPECT_EQ(from_file.config.machine.cores_per_socket, 18u);  // base
  EXPECT_EQ(from_file.config.walk.walkers, 3u);               // over base
  EXPECT_EQ(from_file.description, "mine");
  EXPECT_EQ(from_file.origins.at("walk.walkers").place, file + ":3");

  const LoadedConfig with_cpu = Load({.file = file, .cpu = "zen3", .sets = {}});
  EXPECT_EQ(with_cpu.config.walk.walkers, 6u);   // --cpu over the file
  EXPECT_EQ(with_cpu.config.replay.warmup, 7u);  // not the preset's business
  EXPECT_EQ(with_cpu.config.paging.thp, ThpPolicy::kAlways);
  EXPECT_EQ(with_cpu.config.tlb, LoadPreset("zen3")->tlb);

  LoadedConfig with_set = Load({.file = file,
                                .cpu = "zen3",
                                .sets = {"walk.walkers=5", "walk.walkers=8"}});
  EXPECT_EQ(with_set.config.walk.walkers, 8u);  // the last --set
  EXPECT_EQ(with_set.origins.at("walk.walkers").place, "--set");

  const std::string vary[] = {"walk.walkers=1"};
  ASSERT_TRUE(ApplyAssignments(with_set, "--vary", vary).ok());
  EXPECT_EQ(with_set.config.walk.walkers, 1u);
}

TEST(LoadConfig, BasesMayBeFilesRelativeToTheOneThatNamesThem) {
  WriteFile("grandparent.toml", "base = \"zen2\"\nmachine.mhz = 1111");
  WriteFile("parent.toml",
            "base = \"grandparent.toml\"\nmachine.sockets = 1\nwalk.walkers=5");
  const std::string child =
      WriteFile("child.toml", "base = \"./parent.toml\"\nwalk.walkers = 6");
  const SimConfig config = Load({.file = child, .cpu = "", .sets = {}}).config;
  EXPECT_EQ(
      config.machine,
      (TopologyConfig{1, 64, 2, 1111, 1, ApicMode::kCluster, 0x1731, {}}));
  EXPECT_EQ(config.walk.walkers, 6u);
}

TEST(LoadConfig, TextInMemoryNamesNoFiles) {
  EXPECT_FALSE(LoadConfigText("x", "base = \"parent.toml\"").ok());
}

TEST(LoadConfig, AFileMayAddAnArray) {
  const LoadedConfig loaded = Text(
      "base = \"textbook\"\n"
      "[tlb.dtlb_2m]\nlevel = 1\nside = \"data\"\npages = [\"2M\"]\n"
      "entries = 32\nways = 4\nreplacement = \"fifo\"\nhash = \"linear\"\n"
      "smt = \"competitive\"\nlatency = 1\n");
  ASSERT_EQ(loaded.config.tlb.arrays.size(), 4u);
  EXPECT_EQ(loaded.config.tlb.arrays.back().name, "dtlb_2m");
  EXPECT_EQ(loaded.config.tlb.arrays.back().pcid_slots,
            TlbConfig::kNoPcidLimit);
}

TEST(LoadConfig, ZeroEntriesRemoveAnArrayInAnyLayer) {
  const LoadedConfig by_file = Text("tlb.stlb.entries = 0");
  EXPECT_EQ(Find(by_file.config, "stlb"), nullptr);
  EXPECT_EQ(by_file.origins.find("tlb.stlb.ways"), by_file.origins.end());
  const LoadedConfig by_set =
      Load({.file = "", .cpu = "zen3", .sets = {"tlb.stlb_inst.entries=0"}});
  EXPECT_EQ(Find(by_set.config, "stlb_inst"), nullptr);
  EXPECT_NE(Find(by_set.config, "stlb_data"), nullptr);
}

TEST(LoadConfig, FullyAssociativeArraysStaySoUnlessWaysAreGiven) {
  const auto ways = [](std::vector<std::string> sets) {
    const LoadedConfig loaded =
        Load({.file = "", .cpu = "textbook", .sets = std::move(sets)});
    return Find(loaded.config, "dtlb_4k")->ways;
  };
  EXPECT_EQ(ways({"tlb.dtlb_4k.entries=48"}), 48u);
  EXPECT_EQ(ways({"tlb.dtlb_4k.entries=64", "tlb.dtlb_4k.ways=4"}), 4u);
  EXPECT_EQ(ways({"tlb.dtlb_4k.ways=4", "tlb.dtlb_4k.entries=64"}), 4u);
  EXPECT_EQ(ways({"tlb.dtlb_4k.ways=32", "tlb.dtlb_4k.entries=64"}), 32u);
}

TEST(LoadConfig, ACostInOneUnitReplacesTheOther) {
  const LoadedConfig loaded = Text("cost.invlpg_ns = 80");
  EXPECT_EQ(loaded.config.cost.invlpg,
            (CostAmount{80, CostUnit::kNanoseconds}));
  EXPECT_EQ(loaded.origins.count("cost.invlpg_cycles"), 0u);
  const LoadedConfig refill =
      Load({.file = "", .cpu = "", .sets = {"cost.refill_ns=100"}});
  EXPECT_EQ(refill.config.cost.refill,
            (CostAmount{100, CostUnit::kNanoseconds}));
}

TEST(LoadConfig, KeepsTheOrderOfArrays) {
  const std::string array =
      "level = 1\npages = [\"4K\"]\nentries = 8\nways = 8\n"
      "replacement = \"lru\"\nhash = \"linear\"\nsmt = \"competitive\"\n"
      "latency = 0\n";
  const LoadedConfig loaded =
      Text("base = \"none\"\n[tlb.zz]\nside = \"data\"\n" + array +
           "[tlb.aa]\nside = \"inst\"\n" + array);
  ASSERT_EQ(loaded.config.tlb.arrays.size(), 2u);
  EXPECT_EQ(loaded.config.tlb.arrays[0].name, "zz");
  EXPECT_EQ(loaded.config.tlb.arrays[1].name, "aa");
}

TEST(LoadConfig, RemembersPlacesAndComments) {
  const LoadedConfig loaded = Text(
      "[walk]\n"
      "overlap = 0.5   # measured, see notes\n"
      "walkers = 3\n"
      "[machine]\n"
      "mhz = 0x3e8\t#\tµ-benchmark \"#1\"\r\n"
      "[tlb.stlb]\n"
      "pages = [\"4K\", # not this\n"
      "  \"2M\"]  # but this\n");
  const auto at = [&](const char* key) { return loaded.origins.at(key); };
  EXPECT_EQ(at("walk.overlap").place, "my.toml:2");
  EXPECT_EQ(at("walk.overlap").note, "measured, see notes");
  EXPECT_EQ(at("walk.walkers").note, "");
  EXPECT_EQ(at("machine.mhz").note, "µ-benchmark \"#1\"");
  EXPECT_EQ(at("tlb.stlb.pages").note, "but this");
  EXPECT_EQ(at("tlb.stlb.entries").place, "preset skylake-sp");
}

TEST(ShowConfig, NamesThePlaceOfWhatTheUserChanged) {
  const LoadedConfig loaded =
      Text("walk.overlap = 0.25  # a guess\nreplay.warmup = 5\n");
  const std::string text = ShowConfig(loaded);
  EXPECT_NE(text.find("overlap = 0.25  # my.toml:1: a guess\n"),
            std::string::npos);
  EXPECT_NE(text.find("warmup = 5  # my.toml:2\n"), std::string::npos);
  const auto again = LoadConfigText("again.toml", text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->config, loaded.config);
}

TEST(ShowConfig, RoundTripsWhatNoPresetHas) {
  const LoadedConfig loaded = Load(
      {.file = "",
       .cpu = "",
       .sets = {"cost.refill_ns=100", "tlb.stlb.pages=4K", "paging.levels=5",
                "paging.node_memory=3G", "walk.data_pressure=0.125",
                "replay.strict=true", "replay.warmup=1000000",
                "tlb.inclusion=exclusive", "tlb.dtlb_4k.entries=0",
                "tlb.dtlb_2m.pages=4K,2M", "tlb.dtlb_1g.smt=replicated"}});
  const auto again = LoadConfigText("again.toml", ShowConfig(loaded));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->config, loaded.config);
}

}  // namespace
}  // namespace lookaside
