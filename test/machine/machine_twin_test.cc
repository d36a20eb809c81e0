// SPDX-License-Identifier: Apache-2.0
//
// Random programs on the machine, on the same machine from folded runs, and
// on its naive twin: every counter, every cycle and every fault must be the
// same after each operation, for every preset.
//
// A run is one step of time, so runs are compared in recorded order only,
// where a CPU begins no earlier than what went before it anywhere. In free
// order siblings' clocks differ and walks wait for each other's walkers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lookaside/base/cycles.h"
#include "lookaside/base/rng.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/machine/machine.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/testing/reference_machine.h"
#include "lookaside/trace/page_run.h"

namespace lookaside {
namespace {

enum class Order { kRecorded, kFree };

// Of each drive; ci/long.sh asks for more.
int Operations() {
  const char* const asked = std::getenv("LOOKASIDE_TWIN_OPERATIONS");
  return asked == nullptr ? 1500 : std::atoi(asked);
}

constexpr uint64_t kProcesses = 6;

// A preset on a small machine of two sockets, where it has more than one CPU.
SimConfig SmallMachine(const std::string& preset) {
  SimConfig config = *LoadPreset(preset);
  if (config.machine.cpus() > 1) {
    config.machine.sockets = 2;
    config.machine.cores_per_socket = std::max(2u, config.machine.numa);
  }
  return config;
}

struct Process {
  std::optional<PageTable> original;
  std::optional<PageTable> folded;
  std::optional<PageTable> twin;
  Pcid pcid;
};

class Worlds {
 public:
  Worlds(const SimConfig& config, uint64_t seed, Order order)
      : order_(order),
        rng_(seed),
        config_(config),
        original_(*Machine::Create(MachineConfigOf(config, seed))),
        folded_(*Machine::Create(MachineConfigOf(config, seed))),
        twin_(MachineConfigOf(config, seed)),
        cpus_(std::min(config.machine.cpus(), 8u)),
        running_(cpus_) {
    const int levels = static_cast<int>(config.paging.levels);
    for (uint64_t i = 0; i < kProcesses; ++i) {
      Process process;
      process.original =
          *PageTable::Create(original_->memory(), levels, NodeId(0));
      process.folded = *PageTable::Create(folded_->memory(), levels, NodeId(0));
      process.twin = *PageTable::Create(twin_.memory(), levels, NodeId(0));
      process.pcid = Pcid(static_cast<uint16_t>(i));
      processes_.push_back(process);
    }
  }

  void Step() {
    cpu_ = CpuId(static_cast<uint32_t>(rng_.Below(cpus_)));
    if (order_ == Order::kRecorded) Idle(cpu_);
    if (!running_[cpu_.value()] || rng_.Below(20) == 0) {
      LoadContext();
    } else if (const uint64_t op = rng_.Below(20); op == 0) {
      Invalidate();
    } else if (op == 1) {
      Unmap();
    } else if (op == 2) {
      Halt();
    } else {
      Play();
    }
    Compare();
  }

  void CheckInvariants() const { original_->CheckInvariants(); }

  // A copy driven on gives what its original gives, and equal digests.
  void SplitAndJoin() {
    const Machine copy(*original_);
    EXPECT_EQ(copy.Digest(), original_->Digest());
    if (!folds()) return;
    for (CpuId cpu : original_->used_cpus()) Idle(cpu);
    EXPECT_EQ(folded_->Digest(), original_->Digest());
  }

 private:
  bool folds() const {
    return order_ == Order::kRecorded && original_->folding_is_exact();
  }

  void Idle(CpuId cpu) {
    for (CpuId used : original_->used_cpus()) {
      now_ = std::max(now_, original_->cpu(used).clock());
    }
    original_->cpu(cpu).IdleUntil(now_);
    folded_->cpu(cpu).IdleUntil(now_);
    twin_.IdleUntil(cpu, now_);
  }

  VirtPage RandomPage() {
    // A few hot pages, a few sets' worth, and pages far apart.
    const uint64_t kind = rng_.Below(10);
    if (kind < 5) return VirtPage(0x400 + rng_.Below(8));
    if (kind < 9) return VirtPage(0x7f000 + rng_.Below(3000));
    return VirtPage(rng_.Below(64) << 18 | rng_.Below(4) << 9 | rng_.Below(4));
  }

  std::vector<TraceEvent> RandomEvents() {
    std::vector<TraceEvent> events(1 + rng_.Below(60));
    VirtPage code = RandomPage();
    VirtPage data = RandomPage();
    for (TraceEvent& event : events) {
      event.kind = rng_.Below(2) == 0
                       ? EventKind::kFetch
                       : static_cast<EventKind>(1 + rng_.Below(3));
      VirtPage& page = event.kind == EventKind::kFetch ? code : data;
      if (rng_.Below(4) == 0) page = RandomPage();
      const uint64_t offset = rng_.Below(kPageBytes);
      event.address = VirtAddr(StartOf(page).value() + offset);
      event.size = static_cast<uint16_t>(1 + rng_.Below(8));
      if (rng_.Below(200) == 0) event.size = 9000;
    }
    return events;
  }

  void Play() {
    const std::vector<TraceEvent> events = RandomEvents();
    const Pacing pacing =
        rng_.Below(8) == 0 ? Pacing::kAccesses : Pacing::kInstructions;
    const Rng choices = rng_;
    PlayOriginal(events, pacing);
    rng_ = choices;
    if (folds()) PlayFolded(events, pacing);
    rng_ = choices;
    PlayTwin(events, pacing);
  }

  void PlayOriginal(std::span<const TraceEvent> events, Pacing pacing) {
    faults_.clear();
    while (!events.empty()) {
      const auto done = original_->Access(cpu_, events, pacing);
      events = events.subspan(done.consumed);
      if (!done.fault) break;
      faults_.push_back(*done.fault);
      Handle(original_->memory(), *running()->original, *done.fault);
    }
  }

  void PlayFolded(std::span<const TraceEvent> events, Pacing pacing) {
    std::vector<PageRun> all;
    RunFolder folder;
    EXPECT_EQ(folder.Fold(events, all), events.size());
    folder.Finish(all);
    std::vector<Fault> faults;
    std::span<PageRun> runs(all);
    while (!runs.empty()) {
      const auto done = folded_->AccessRuns(cpu_, runs, pacing);
      runs = runs.subspan(done.consumed);
      if (!done.fault) break;
      faults.push_back(*done.fault);
      Handle(folded_->memory(), *running()->folded, *done.fault);
    }
    EXPECT_EQ(faults, faults_);
  }

  void PlayTwin(std::span<const TraceEvent> events, Pacing pacing) {
    std::vector<Fault> faults;
    for (const TraceEvent& event : events) {
      while (const auto fault = twin_.Access(cpu_, event, pacing)) {
        faults.push_back(*fault);
        Handle(twin_.memory(), *running()->twin, *fault);
      }
    }
    EXPECT_EQ(faults, faults_);
  }

  // Maps what was missing, or allows what was denied.
  void Handle(PhysicalMemory& memory, const PageTable& table,
              const Fault& fault) {
    const VirtPage page = PageOf(fault.address);
    if (fault.kind == WalkFault::kProtection) {
      table.Protect(memory.tables, page,
                    {.writable = true, .user = true, .nx = false});
      return;
    }
    // A run is exact while its faults deny nothing (trace/page_run.h).
    const bool denies = order_ == Order::kFree;
    const PagePermissions permissions{.writable = !denies || rng_.Below(4) != 0,
                                      .user = true,
                                      .nx = denies && rng_.Below(4) == 0};
    const bool global = rng_.Below(8) == 0;
    const uint64_t large = rng_.Below(8);
    PageSize size = large == 0   ? PageSize::k1G
                    : large <= 2 ? PageSize::k2M
                                 : PageSize::k4K;
    for (;; size = PageSize::k4K) {
      const FrameNumber frame = *memory.frames.Allocate(size, NodeId(0));
      const Pte leaf = Pte::Leaf(frame, size, permissions).WithGlobal(global);
      if (table.Map(memory, AlignDown(page, size), size, leaf, NodeId(0))
              .ok()) {
        return;
      }
      memory.frames.Free(frame, size);
      ASSERT_NE(size, PageSize::k4K);
    }
  }

  // Takes a page away and, mostly, tells nobody.
  void Unmap() {
    const VirtPage page = RandomPage();
    running()->original->Unmap(original_->memory().tables, page);
    running()->folded->Unmap(folded_->memory().tables, page);
    running()->twin->Unmap(twin_.memory().tables, page);
    if (rng_.Below(2) == 0) return;
    Send({InvalidationScope::kInvlpg, page, Pcid(0)});
  }

  void Invalidate() {
    Send({static_cast<InvalidationScope>(rng_.Below(7)), RandomPage(),
          Pcid(static_cast<uint16_t>(rng_.Below(kProcesses)))});
  }

  void Send(const Invalidation& invalidation) {
    original_->Invalidate(cpu_, invalidation);
    folded_->Invalidate(cpu_, invalidation);
    twin_.Invalidate(cpu_, invalidation);
  }

  void LoadContext() {
    Process& process = processes_[rng_.Below(kProcesses)];
    running_[cpu_.value()] = &process;
    const ContextLoad load =
        rng_.Below(2) == 0 ? ContextLoad::kFlush : ContextLoad::kNoFlush;
    const Vpid vpid(0);
    original_->LoadContext(cpu_, {process.original->root(), process.pcid, vpid},
                           load);
    folded_->LoadContext(cpu_, {process.folded->root(), process.pcid, vpid},
                         load);
    twin_.LoadContext(cpu_, {process.twin->root(), process.pcid, vpid}, load);
  }

  void Halt() {
    running_[cpu_.value()] = nullptr;
    original_->Halt(cpu_);
    folded_->Halt(cpu_);
    twin_.Halt(cpu_);
  }

  void Compare() {
    CompareWith(original_->cpu(cpu_));
    if (folds()) CompareWith(folded_->cpu(cpu_));
  }

  void CompareWith(const Cpu& cpu) {
    ASSERT_EQ(cpu.counters(), twin_.counters(cpu_));
    ASSERT_EQ(cpu.ledger(), twin_.ledger(cpu_));
    ASSERT_EQ(cpu.clock(), twin_.clock(cpu_));
  }

  Process* running() { return running_[cpu_.value()]; }

  Order order_;
  Cycles now_;
  Rng rng_;
  SimConfig config_;
  std::unique_ptr<Machine> original_;
  std::unique_ptr<Machine> folded_;
  ReferenceMachine twin_;
  uint32_t cpus_;
  std::vector<Process> processes_;
  std::vector<Process*> running_;  // by CPU
  CpuId cpu_;
  std::vector<Fault> faults_;  // of the last events played
};

void DriveIn(const SimConfig& config, uint64_t seed, Order order) {
  Worlds worlds(config, seed, order);
  const int operations = Operations();
  for (int i = 0; i < operations; ++i) {
    SCOPED_TRACE(i);
    worlds.Step();
    if (testing::Test::HasFatalFailure()) return;
    if (i % 250 == 0) {
      worlds.CheckInvariants();
      worlds.SplitAndJoin();
    }
    if (testing::Test::HasFailure()) return;
  }
}

void Drive(const SimConfig& config, uint64_t seed) {
  DriveIn(config, seed, Order::kRecorded);
  DriveIn(config, seed, Order::kFree);
}

class MachineTwinTest : public testing::TestWithParam<std::string> {};

TEST_P(MachineTwinTest, AgreesOnRandomPrograms) {
  Drive(SmallMachine(GetParam()), 1);
}

TEST_P(MachineTwinTest, AgreesUnderInclusiveTlbs) {
  SimConfig config = SmallMachine(GetParam());
  config.tlb.inclusion = TlbInclusion::kInclusive;
  Drive(config, 2);
}

TEST_P(MachineTwinTest, AgreesUnderExclusiveTlbs) {
  SimConfig config = SmallMachine(GetParam());
  config.tlb.inclusion = TlbInclusion::kExclusive;
  Drive(config, 3);
}

TEST_P(MachineTwinTest, AgreesUnderRandomReplacementAndFiveLevels) {
  SimConfig config = SmallMachine(GetParam());
  for (TlbConfig& tlb : config.tlb.arrays) {
    tlb.replacement = TlbReplacement::kRandom;
  }
  config.paging.levels = 5;
  config.walk.overlap = Permille(300);
  config.walk.data_pressure = Permille(500);
  Drive(config, 4);
}

INSTANTIATE_TEST_SUITE_P(Presets, MachineTwinTest,
                         testing::ValuesIn(PresetNames()),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(MachineTwinTest, AgreesWhereOneFirstLevelServesBothSides) {
  SimConfig config = SmallMachine("skylake-sp");
  TlbConfig unified = config.tlb.arrays[0];
  unified.name = "l1";
  unified.side = TlbSide::kUnified;
  unified.pages = {PageSize::k4K, PageSize::k2M};
  std::erase_if(config.tlb.arrays,
                [](const TlbConfig& tlb) { return tlb.level == 1; });
  config.tlb.arrays.push_back(unified);
  Drive(config, 5);
}

TEST(MachineTwinTest, AgreesWhereEveryWalkCostsTheSame) {
  SimConfig config = SmallMachine("skylake-sp");
  config.cost.refill = CostAmount{100, CostUnit::kNanoseconds};
  config.cost.dirty_assist = CostAmount{7, CostUnit::kCycles};
  Drive(config, 6);
}

}  // namespace
}  // namespace lookaside
