// SPDX-License-Identifier: Apache-2.0
//
// How far does a walk over memory get with the TLBs of a processor? Touches
// every page of larger and larger arrays twice and prints what the second
// round missed.
#include <cstdio>
#include <memory>
#include <vector>

#include "lookaside/lookaside.h"

using namespace lookaside;  // NOLINT: an example may

int main() {
  const SimConfig config = LoadPreset("skylake-sp").value();
  std::printf("%8s %14s %14s\n", "pages", "dtlb_4k misses", "page walks");
  for (uint64_t pages = 32; pages <= 4096; pages *= 2) {
    std::vector<TraceEvent> events;
    for (uint64_t i = 0; i < pages; ++i) {
      events.push_back({.address = VirtAddr(0x10000000 + i * kPageBytes),
                        .size = 8,
                        .kind = EventKind::kLoad});
    }
    const std::unique_ptr<Simulation> simulation =
        Simulation::Create(config).value();
    if (!simulation->Play(CpuId(0), events).ok()) return 1;
    const CpuResult first = simulation->Results().totals;
    if (!simulation->Play(CpuId(0), events).ok()) return 1;
    CpuResult second = simulation->Results().totals;
    second -= first;
    const CpuCounters& counters = second.counters;
    std::printf("%8lu %14lu %14lu\n", pages, counters.tlb[2].misses,
                counters.translation.walks);
  }
}
