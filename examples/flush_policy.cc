// SPDX-License-Identifier: Apache-2.0
//
// A flush policy of one's own: page by page up to a number of pages that
// depends on how much the program maps. Two threads share memory; one gives
// parts of it up, of 1 to 64 pages. How many cycles does that take?
#include <cstdio>
#include <memory>
#include <vector>

#include "lookaside/lookaside.h"

using namespace lookaside;  // NOLINT: an example may

// Not more than a 64th of what is mapped.
class SmallPart final : public FlushPolicy {
 public:
  FlushPlan Plan(const FlushRequest& request) const override {
    return {.full = request.info.all ||
                    request.info.strides() > request.total_vm / 64};
  }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<SmallPart>(*this);
  }
};

// Cycles of both threads, without the first touches.
uint64_t CyclesOf(Simulation& simulation) {
  constexpr uint64_t kStart = 0x10000000;
  std::vector<TraceEvent> touches;
  for (uint64_t page = 0; page < 512; ++page) {
    touches.push_back({.address = VirtAddr(kStart + page * kPageBytes),
                       .size = 8,
                       .kind = EventKind::kLoad});
  }
  for (const uint32_t cpu : {0u, 2u}) {
    if (!simulation.Play(CpuId(cpu), touches).ok()) return 0;
  }
  const CpuResult before = simulation.Results().totals;
  for (uint64_t pages = 1; pages <= 64; pages *= 2) {
    const Operation give_up{.kind = OperationKind::kMadviseDontNeed,
                            .address = VirtAddr(kStart + pages * kPageBytes),
                            .length = pages * kPageBytes};
    if (!simulation.RunOperation(CpuId(0), give_up).ok()) return 0;
    if (!simulation.Play(CpuId(2), touches).ok()) return 0;
  }
  CpuResult done = simulation.Results().totals;
  done -= before;
  return done.cycles.Total().value();
}

int main() {
  const SimConfig config = LoadPreset("skylake-sp").value();
  auto ceiling = Simulation::Create(config).value();
  auto own = Simulation::Create(config).value();
  own->SetFlushPolicy(std::make_unique<SmallPart>());
  std::printf("ceiling   %lu cycles\n", CyclesOf(*ceiling));
  std::printf("own       %lu cycles\n", CyclesOf(*own));
}
