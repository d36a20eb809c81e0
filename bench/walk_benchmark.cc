// SPDX-License-Identifier: Apache-2.0
//
// Time of one simulated page walk. The line caches have the sizes of a
// Skylake-SP core and socket.
//
//   Walk_Random4K/bytes   uniformly random 4K pages of a region
//   Walk_Sequential4K     the next page each time: a PDE hit almost always
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/rng.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/pagetable/page_walker.h"
#include "lookaside/pagetable/physical_memory.h"
#include "lookaside/tlb/paging_structure_caches.h"

namespace lookaside {
namespace {

constexpr uint64_t kMhz = 2100;
constexpr VirtPage kFirst(0x7f000'0000);

WalkConfig SkylakeLike() {
  return {.base_cycles = 12,
          .walkers = 2,
          .l1 = {.lines = 512, .ways = 8, .cycles = 4},
          .l2 = {.lines = 16384, .ways = 16, .cycles = 14},
          .l3 = {.lines = 360448, .ways = 11, .cycles = 75},
          .local_memory_ns = 90,
          .remote_memory_ns = 140};
}

class WalkBench {
 public:
  explicit WalkBench(uint64_t pages)
      : memory_{FrameAllocator::Create(1, uint64_t{1} << 40).value(), {}},
        table_(PageTable::Create(memory_, 4, NodeId(0)).value()),
        psc_({.pml4e = 4, .pdpte = 4, .pde = 32, .pde_ways = 4}),
        walker_(SkylakeLike(), kMhz),
        lines_(SkylakeLike()),
        l3_(SkylakeLike().l3, Permille()) {
    for (uint64_t i = 0; i < pages; ++i) {
      const FrameNumber frame =
          memory_.frames.Allocate(PageSize::k4K, NodeId(0)).value();
      const Pte leaf =
          Pte::Leaf(frame, PageSize::k4K, {.writable = true, .user = true});
      LOOKASIDE_CHECK(table_
                          .Map(memory_, VirtPage(kFirst.value() + i),
                               PageSize::k4K, leaf, NodeId(0))
                          .ok());
    }
  }

  WalkResult Walk(uint64_t i) {
    return walker_.Walk(
        {.root = table_.root(),
         .levels = 4,
         .tag = ContextTag(1),
         .page = VirtPage(kFirst.value() + i),
         .access = {.user = true}},
        {psc_, lines_, l3_, memory_.tables, memory_.frames, NodeId(0)});
  }

 private:
  PhysicalMemory memory_;
  PageTable table_;
  PagingStructureCaches psc_;
  PageWalker walker_;
  CoreLineCaches lines_;
  PageTableLineCache l3_;
};

void Walk_Random4K(benchmark::State& state) {
  const auto pages = static_cast<uint64_t>(state.range(0)) / kPageBytes;
  WalkBench bench(pages);
  std::vector<uint64_t> order(1 << 16);
  Rng rng(1);
  for (uint64_t& i : order) i = rng.Below(pages);
  for (uint64_t i = 0; i < pages; ++i) bench.Walk(i);  // set accessed
  size_t next = 0;
  uint64_t loads = 0;
  for (auto _ : state) {
    loads += bench.Walk(order[next++ & (order.size() - 1)]).loads;
  }
  state.counters["loads_per_walk"] =
      static_cast<double>(loads) / static_cast<double>(state.iterations());
}
BENCHMARK(Walk_Random4K)->Arg(1 << 24)->Arg(1 << 30)->Arg(int64_t{1} << 34);

void Walk_Sequential4K(benchmark::State& state) {
  constexpr uint64_t kPages = 1 << 18;
  WalkBench bench(kPages);
  uint64_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(bench.Walk(next++ & (kPages - 1)));
  }
}
BENCHMARK(Walk_Sequential4K);

}  // namespace
}  // namespace lookaside

BENCHMARK_MAIN();
