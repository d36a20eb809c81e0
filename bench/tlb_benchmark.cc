// SPDX-License-Identifier: Apache-2.0
//
// Time of one operation on a TLB array of Skylake-SP's shapes, and of one
// access to all arrays of its core (machines without page tables: a walk is
// a made-up entry).
//
//   BM_TlbLookup/<shape>        a hit, on pages in random order
//   BM_TlbLookupMiss/<shape>    a search that finds nothing in a full array
//   BM_TlbFill/<shape>          an insertion into a full set
//   BM_HierarchyLookup/pages    a data access, uniformly random; 32 pages
//                               stay in the first level, 1024 in the second,
//                               65536 walk almost always
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/tlb/tlb.h"
#include "lookaside/tlb/tlb_hierarchy.h"

namespace lookaside {
namespace {

constexpr TlbContext kContext{ContextTag(1), ContextTag(2), ThreadSlot(0)};
constexpr PageSizeSet k4K{PageSize::k4K};

TlbConfig Array(std::string name, uint32_t level, TlbSide side,
                uint32_t entries, uint32_t ways, TlbReplacement replacement) {
  TlbConfig config;
  config.name = std::move(name);
  config.level = level;
  config.side = side;
  config.pages = k4K;
  config.entries = entries;
  config.ways = ways;
  config.replacement = replacement;
  return config;
}

TlbConfig Itlb() {
  return Array("itlb_4k", 1, TlbSide::kInst, 128, 8, TlbReplacement::kTreePlru);
}

TlbConfig Dtlb() {
  return Array("dtlb_4k", 1, TlbSide::kData, 64, 4, TlbReplacement::kTreePlru);
}

TlbConfig Stlb() {
  TlbConfig config =
      Array("stlb", 2, TlbSide::kUnified, 1536, 12, TlbReplacement::kMru3Plru4);
  config.hash = TlbHash::kXor7;
  config.pages.Add(PageSize::k2M);
  config.pcid_slots = 4;
  return config;
}

TlbConfig FullyAssociative() {
  return Array("fa_lru", 1, TlbSide::kData, 64, 64, TlbReplacement::kLru);
}

TlbHierarchyConfig SkylakeLike() {
  TlbConfig dtlb_2m =
      Array("dtlb_2m", 1, TlbSide::kData, 32, 4, TlbReplacement::kTreePlru);
  dtlb_2m.pages = {PageSize::k2M};
  return {{Itlb(), Dtlb(), dtlb_2m, Stlb()}, TlbInclusion::kNone};
}

TlbEntry EntryFor(uint64_t page) {
  TlbEntry entry;
  entry.page = VirtPage(page);
  entry.frame = FrameNumber(page);
  entry.context = kContext.tag;
  return entry;
}

Tlb FullArray(const TlbConfig& config) {
  Tlb tlb(config, /*threads=*/2, /*seed=*/1);
  for (uint64_t page = 0; page < config.entries; ++page) {
    tlb.Insert(EntryFor(page));
  }
  return tlb;
}

// So that the generator is no part of what is measured.
std::vector<VirtPage> RandomPages(uint64_t first, uint64_t count) {
  Rng rng(1);
  std::vector<VirtPage> pages;
  for (int i = 0; i < 4096; ++i) {
    pages.push_back(VirtPage(first + rng.Below(count)));
  }
  return pages;
}

void BM_TlbLookup(benchmark::State& state, const TlbConfig& config) {
  Tlb tlb = FullArray(config);
  const std::vector<VirtPage> pages = RandomPages(0, config.entries);
  size_t i = 0;
  for (auto _ : state) {
    const uint32_t slot = tlb.Find(kContext, pages[i++ % 4096], PageSize::k4K);
    tlb.OnHit(slot);
    benchmark::DoNotOptimize(slot);
  }
}

void BM_TlbLookupMiss(benchmark::State& state, const TlbConfig& config) {
  const Tlb tlb = FullArray(config);
  const std::vector<VirtPage> pages =
      RandomPages(config.entries, config.entries);
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        tlb.Find(kContext, pages[i++ % 4096], PageSize::k4K));
  }
}

void BM_TlbFill(benchmark::State& state, const TlbConfig& config) {
  Tlb tlb = FullArray(config);
  uint64_t page = config.entries;
  for (auto _ : state) {
    benchmark::DoNotOptimize(tlb.Insert(EntryFor(page++)));
  }
}

void BM_HierarchyLookup(benchmark::State& state) {
  TlbHierarchy tlbs(SkylakeLike(), /*threads=*/2, /*seed=*/1);
  std::vector<TlbCounters> counters(tlbs.arrays().size());
  const std::vector<VirtPage> pages =
      RandomPages(0, static_cast<uint64_t>(state.range(0)));
  size_t i = 0;
  for (auto _ : state) {
    const VirtPage page = pages[i++ % 4096];
    auto found = tlbs.Lookup(AccessSide::kData, kContext, page, counters);
    if (found.level == 0) {
      found =
          tlbs.Fill(AccessSide::kData, page, EntryFor(page.value()), counters);
      tlbs.CountMiss(AccessSide::kData, page, PageSize::k4K, counters);
    } else {
      tlbs.CountHit(AccessSide::kData, page, found, counters);
    }
    benchmark::DoNotOptimize(found);
  }
}

BENCHMARK_CAPTURE(BM_TlbLookup, dtlb_64x4, Dtlb());
BENCHMARK_CAPTURE(BM_TlbLookup, itlb_128x8, Itlb());
BENCHMARK_CAPTURE(BM_TlbLookup, stlb_1536x12, Stlb());
BENCHMARK_CAPTURE(BM_TlbLookup, fa_64_lru, FullyAssociative());
BENCHMARK_CAPTURE(BM_TlbLookupMiss, dtlb_64x4, Dtlb());
BENCHMARK_CAPTURE(BM_TlbLookupMiss, itlb_128x8, Itlb());
BENCHMARK_CAPTURE(BM_TlbLookupMiss, stlb_1536x12, Stlb());
BENCHMARK_CAPTURE(BM_TlbLookupMiss, fa_64_lru, FullyAssociative());
BENCHMARK_CAPTURE(BM_TlbFill, dtlb_64x4, Dtlb());
BENCHMARK_CAPTURE(BM_TlbFill, itlb_128x8, Itlb());
BENCHMARK_CAPTURE(BM_TlbFill, stlb_1536x12, Stlb());
BENCHMARK_CAPTURE(BM_TlbFill, fa_64_lru, FullyAssociative());
BENCHMARK(BM_HierarchyLookup)->Arg(32)->Arg(1024)->Arg(65536);

}  // namespace
}  // namespace lookaside

BENCHMARK_MAIN();
