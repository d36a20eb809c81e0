// SPDX-License-Identifier: Apache-2.0
//
// Time per page of the page-table operations, frames included.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "lookaside/base/check.h"
#include "lookaside/base/rng.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/pagetable/physical_memory.h"

namespace lookaside {
namespace {

constexpr uint64_t kPages = 1 << 16;
constexpr VirtPage kFirst(0x7f000'0000);
constexpr PagePermissions kReadWrite{.writable = true, .user = true};

VirtPage Page(uint64_t i) { return VirtPage(kFirst.value() + i); }

PhysicalMemory MakeMemory() {
  return {FrameAllocator::Create(1, uint64_t{1} << 40).value(), {}};
}

void MapOne(PhysicalMemory& memory, const PageTable& table, uint64_t i) {
  const FrameNumber frame =
      memory.frames.Allocate(PageSize::k4K, NodeId(0)).value();
  const Pte leaf = Pte::Leaf(frame, PageSize::k4K, kReadWrite);
  LOOKASIDE_CHECK(
      table.Map(memory, Page(i), PageSize::k4K, leaf, NodeId(0)).ok());
}

void PageTable_MapThenUnmap(benchmark::State& state) {
  PhysicalMemory memory = MakeMemory();
  const PageTable table = PageTable::Create(memory, 4, NodeId(0)).value();
  for (auto _ : state) {
    for (uint64_t i = 0; i < kPages; ++i) MapOne(memory, table, i);
    for (uint64_t i = 0; i < kPages; ++i) {
      memory.frames.Free(table.Unmap(memory.tables, Page(i))->pte.frame(),
                         PageSize::k4K);
    }
    for (const UnhookedTable& t :
         table.CollectEmptyTables(memory, Page(0), Page(kPages - 1))) {
      FreeTable(memory, t.frame);
    }
  }
  state.SetItemsProcessed(state.iterations() * int64_t{kPages});
}
BENCHMARK(PageTable_MapThenUnmap);

void PageTable_Protect(benchmark::State& state) {
  PhysicalMemory memory = MakeMemory();
  const PageTable table = PageTable::Create(memory, 4, NodeId(0)).value();
  for (uint64_t i = 0; i < kPages; ++i) MapOne(memory, table, i);
  Rng rng(1);
  bool writable = false;
  for (auto _ : state) {
    writable = !writable;
    benchmark::DoNotOptimize(
        table.Protect(memory.tables, Page(rng.Below(kPages)),
                      {.writable = writable, .user = true}));
  }
}
BENCHMARK(PageTable_Protect);

void PageTable_ForEachLeaf(benchmark::State& state) {
  PhysicalMemory memory = MakeMemory();
  const PageTable table = PageTable::Create(memory, 4, NodeId(0)).value();
  for (uint64_t i = 0; i < kPages; ++i) MapOne(memory, table, i);
  for (auto _ : state) {
    uint64_t dirty = 0;
    table.ForEachLeaf(
        memory.tables, Page(0), Page(kPages - 1),
        [&dirty](const LeafEntry& leaf) { dirty += leaf.pte.dirty(); });
    benchmark::DoNotOptimize(dirty);
  }
  state.SetItemsProcessed(state.iterations() * int64_t{kPages});
}
BENCHMARK(PageTable_ForEachLeaf);

}  // namespace
}  // namespace lookaside

BENCHMARK_MAIN();
