// SPDX-License-Identifier: Apache-2.0
//
// Random operations of several programs on several CPUs in timed order: their
// steps, accesses and interrupts interleave as clocks have it. With every fix
// in place no check may trip, under any version, and when all is quiet
// frames, entries and mappings agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/replay/timed_cpus.h"
#include "lookaside/test/kernel/kernel_world.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {
namespace {

constexpr uint32_t kCpus = 4;
constexpr uint64_t kPages = 4 * 512;  // what the programs use
constexpr uint64_t kFirst = 512;

// More for a long run: LOOKASIDE_TIMED_OPERATIONS=10000000.
uint64_t Operations() {
  const char* const text = std::getenv("LOOKASIDE_TIMED_OPERATIONS");
  return text == nullptr ? 100'000 : std::strtoull(text, nullptr, 10);
}

class RandomTimedPrograms final : public CpuPrograms {
 public:
  RandomTimedPrograms(KernelWorld& world, uint64_t seed, uint64_t operations)
      : world_(world),
        cpus_(world.machine(), world.kernel()),
        rng_(seed),
        left_(operations) {
    for (int i = 0; i < 2; ++i) mms_.push_back(world_.NewMm());
    for (uint32_t cpu = 0; cpu < kCpus; ++cpu) {
      world_.Switch(cpu, mms_[cpu % 2]);
      cpus_.Wake(CpuId(cpu));
    }
  }

  absl::Status RunAll() {
    for (;;) {
      LOOKASIDE_ASSIGN_OR_RETURN(const bool goes_on, cpus_.Step(*this));
      if (!goes_on) return absl::OkStatus();
    }
  }

  std::optional<Cycles> ReadyAt(CpuId cpu) override {
    if (left_ == 0 && touches_[cpu.value()] == 0) return std::nullopt;
    return Cycles(0);
  }

  absl::Status GoOn(CpuId cpu, Cycles until) override {
    uint32_t& touches = touches_[cpu.value()];
    if (touches == 0) {
      // Another may have taken the last one since ReadyAt was asked.
      if (left_ == 0) return absl::OkStatus();
      --left_;
      Choose(cpu);
      if (touches == 0) return absl::OkStatus();
    }
    while (touches > 0 && world_.hardware().clock(cpu) < until) {
      const auto done = world_.machine().Access(cpu, {&events_[cpu.value()], 1},
                                                Pacing::kAccesses);
      if (done.fault) return cpus_.BeginFault(cpu, *done.fault);
      --touches;
      NewTouch(cpu);
    }
    return absl::OkStatus();
  }

  absl::Status Returned(CpuId cpu, int64_t result) override {
    if (touches_[cpu.value()] > 0) return absl::OkStatus();  // a fault
    switch (doing_[cpu.value()]) {
      case OperationKind::kFork:
      case OperationKind::kExec:
        mms_.push_back(MmId(static_cast<uint32_t>(result)));
        break;
      case OperationKind::kHalt:
        world_.hardware().Halt(cpu);
        break;
      default:
        break;
    }
    return absl::OkStatus();
  }

  // What a program may not touch.
  absl::Status Failed(CpuId cpu, const absl::Status& error) override {
    if (error.code() != absl::StatusCode::kInvalidArgument) return error;
    world_.machine().cpu(cpu).set_translations_done(0);
    touches_[cpu.value()] = 0;
    return absl::OkStatus();
  }

 private:
  struct Range {
    uint64_t page;
    uint64_t pages;
  };
  Range AnyRange() {
    const uint64_t most = rng_.Below(8) == 0 ? 700 : 12;
    const uint64_t page = kFirst + rng_.Below(kPages);
    return {page, 1 + rng_.Below(std::min(most, kFirst + kPages - page))};
  }
  MmId Running(CpuId cpu) { return world_.kernel().running(cpu); }

  void NewTouch(CpuId cpu) {
    const Range& range = touched_[cpu.value()];
    events_[cpu.value()] = {
        .address =
            VirtAddr((range.page + rng_.Below(range.pages)) << kPageShift),
        .size = 8,
        .kind = rng_.Below(2) == 0 ? EventKind::kLoad : EventKind::kStore};
  }

  void Begin(CpuId cpu, const Operation& operation) {
    doing_[cpu.value()] = operation.kind;
    cpus_.Begin(cpu, operation);
  }

  // Whether no other CPU runs the address space or is about to.
  bool Alone(CpuId cpu) {
    for (uint32_t i = 0; i < kCpus; ++i) {
      if (CpuId(i) == cpu) continue;
      if (Running(CpuId(i)) == Running(cpu)) return false;
      if (!world_.machine().cpu(CpuId(i)).steps().empty()) return false;
    }
    return true;
  }

  void Choose(CpuId cpu) {
    if (Running(cpu) == kNoMm) return Schedule(cpu);
    switch (rng_.Below(16)) {
      case 0:
        return Schedule(cpu);
      case 1:
        return Process(cpu);
      case 2:
      case 3:
      case 4:
        return Operate(cpu);
      case 5:
      case 6:
        return Advise(cpu);
      default:
        touched_[cpu.value()] = AnyRange();
        touches_[cpu.value()] = 12;
        NewTouch(cpu);
    }
  }

  void Schedule(CpuId cpu) {
    const uint64_t what = rng_.Below(6);
    Begin(cpu,
          {.kind = what == 0 ? OperationKind::kHalt : OperationKind::kSwitch,
           .mm = what < 2 ? kNoMm : mms_[rng_.Below(mms_.size())]});
  }

  void Operate(CpuId cpu) {
    constexpr OperationKind kKinds[] = {
        OperationKind::kMmap, OperationKind::kMunmap, OperationKind::kMprotect,
        OperationKind::kMremap};
    const Protection protections[] = {{true, true, false},
                                      {true, false, false},
                                      {true, true, true},
                                      {false, false, false}};
    const Range range = AnyRange();
    const Range target = AnyRange();
    Begin(cpu, {.kind = kKinds[rng_.Below(4)],
                .address = VirtAddr(range.page << kPageShift),
                .length = range.pages << kPageShift,
                .protection = protections[rng_.Below(4)],
                .shared = rng_.Below(3) == 0,
                .dont_unmap = rng_.Below(4) == 0,
                .new_address = VirtAddr(target.page << kPageShift),
                .new_length = range.pages << kPageShift});
  }

  void Advise(CpuId cpu) {
    constexpr OperationKind kKinds[] = {
        OperationKind::kMadviseDontNeed, OperationKind::kMadviseFree,
        OperationKind::kMadviseHugePage, OperationKind::kMadviseCollapse,
        OperationKind::kReclaim,         OperationKind::kNumaHint,
        OperationKind::kMigratePages,    OperationKind::kMergePages};
    const Range range = AnyRange();
    const Range other = AnyRange();
    Begin(cpu, {.kind = kKinds[rng_.Below(std::size(kKinds))],
                .address = VirtAddr(range.page << kPageShift),
                .length = range.pages << kPageShift,
                .new_address = VirtAddr(other.page << kPageShift),
                .node = NodeId(static_cast<uint32_t>(rng_.Below(2)))});
  }

  void Process(CpuId cpu) {
    const uint64_t what = rng_.Below(3);
    if (what == 0 && mms_.size() < 9) {
      return Begin(cpu, {.kind = OperationKind::kFork});
    }
    const auto self = std::ranges::find(mms_, Running(cpu));
    if (self == mms_.end() || mms_.size() < 3 || !Alone(cpu)) return;
    mms_.erase(self);  // nobody may enter it any more
    Begin(cpu,
          {.kind = what == 1 ? OperationKind::kExec : OperationKind::kExit});
  }

  KernelWorld& world_;
  TimedCpus cpus_;
  Rng rng_;
  uint64_t left_;
  std::vector<MmId> mms_;  // that a CPU may enter
  std::array<OperationKind, kCpus> doing_{};
  std::array<uint32_t, kCpus> touches_{};  // left
  std::array<Range, kCpus> touched_{};
  std::array<TraceEvent, kCpus> events_{};
};

struct Arm {
  std::string name;
  std::string version;
  bool split;  // one entry a step
};

class TimedRandomTest : public testing::TestWithParam<Arm> {};

TEST_P(TimedRandomTest, NoCheckTrips) {
  const Arm& arm = GetParam();
  SimConfig config = KernelWorld::Config("skylake-sp", arm.version, 2, 2);
  config.machine.numa = 2;
  config.paging.node_memory = uint64_t{16} << 30;
  KernelWorld world(config);
  world.kernel().set_split(arm.split);
  RandomTimedPrograms programs(world, 1,
                               arm.split ? Operations() / 10 : Operations());
  const absl::Status done = programs.RunAll();
  ASSERT_TRUE(done.ok()) << Message(done);
  const CheckCounters& checks = world.machine().checks();
  EXPECT_EQ(checks.violations(), 0u)
      << Name(checks.examples.front().check) << " after "
      << checks.examples.front().operation;
  EXPECT_EQ(world.FindProblem(), "");
}

std::vector<Arm> Arms() {
  std::vector<Arm> arms;
  for (const char* version : {"3.4", "3.6", "3.17", "4.14", "5.13", "6.15"}) {
    std::string name = version;
    std::ranges::replace(name, '.', '_');
    const std::string linux_version = std::string("linux_") + version;
    arms.push_back({name, linux_version, false});
    arms.push_back({name + "_split", linux_version, true});
  }
  return arms;
}

// Recorded order shows no race; here the same operations trip a check.
TEST(TimedRandomUnfixedTest, ARaceThatIsNotFixedIsFound) {
  SimConfig config = KernelWorld::Config("skylake-sp", "linux_6.15", 2, 2);
  config.machine.numa = 2;
  config.paging.node_memory = uint64_t{16} << 30;
  ASSERT_TRUE(Set(config, "kernel.unfixed", "no_gap,no_overclaim").ok());
  KernelWorld world(config);
  RandomTimedPrograms programs(world, 1, 200'000);
  ASSERT_TRUE(programs.RunAll().ok());
  EXPECT_GT(world.machine().checks().violations(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Versions, TimedRandomTest, testing::ValuesIn(Arms()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace lookaside
