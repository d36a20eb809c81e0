// SPDX-License-Identifier: Apache-2.0
//
// Random operations of several programs on several CPUs, under every version
// and what changes its programs. After each one, no CPU can use a translation
// that its page table does not have, and frames, entries, reverse mappings and
// references agree. A longer run of each version looks at the checks alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "lookaside/base/cycles.h"
#include "lookaside/base/rng.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/test/kernel/kernel_world.h"

namespace lookaside {
namespace {

constexpr uint32_t kCpus = 4;
constexpr uint64_t kPages = 4 * 512;  // what the programs use
constexpr uint64_t kFirst = 512;

struct Arm {
  std::string name;
  std::string preset;
  std::string version;
  std::vector<std::pair<std::string, std::string>> sets;
};

// More for a long run: LOOKASIDE_KERNEL_STEPS=100000.
int Steps() {
  const char* const steps = std::getenv("LOOKASIDE_KERNEL_STEPS");
  return steps == nullptr ? 250 : std::atoi(steps);
}

// Of each version with the checks alone. More for a long run:
// LOOKASIDE_RECORDED_OPERATIONS=10000000.
int64_t Operations() {
  const char* const text = std::getenv("LOOKASIDE_RECORDED_OPERATIONS");
  return text == nullptr ? 100'000 : std::atoll(text);
}

// Programs that do something at random, all it takes to repeat it.
class RandomPrograms {
 public:
  RandomPrograms(KernelWorld& world, uint64_t seed)
      : world_(world), rng_(seed) {
    mms_.push_back(world_.NewMm());
    for (uint32_t cpu = 0; cpu < kCpus; ++cpu) world_.Switch(cpu, kNoMm);
    Enter(0, 0);
  }

  // One operation; says which.
  std::string Step();

 private:
  struct Range {
    uint64_t page;
    uint64_t pages;
  };
  Range AnyRange() {
    // Small ones and ones that cross large pages.
    const uint64_t most = rng_.Below(4) == 0 ? 700 : 12;
    const uint64_t page = kFirst + rng_.Below(kPages);
    const uint64_t left = kFirst + kPages - page;
    return {page, 1 + rng_.Below(std::min(most, left))};
  }
  MmId Running(uint32_t cpu) { return world_.kernel().running(CpuId(cpu)); }
  void Enter(uint32_t cpu, size_t program) {
    world_.Switch(cpu, mms_[program]);
  }
  std::string Schedule(uint32_t cpu);
  std::string Operate(uint32_t cpu);
  std::string Advise(uint32_t cpu);
  std::string Process(uint32_t cpu);
  std::string Touch(uint32_t cpu);

  KernelWorld& world_;
  Rng rng_;
  std::vector<MmId> mms_;  // alive; each has one task, on any CPU
};

std::string RandomPrograms::Touch(uint32_t cpu) {
  const Range range = AnyRange();
  for (int i = 0; i < 12; ++i) {
    const uint64_t page = range.page + rng_.Below(range.pages);
    world_.Touch(cpu, page, rng_.Below(2) == 0);
  }
  return "touch";
}

std::string RandomPrograms::Schedule(uint32_t cpu) {
  switch (rng_.Below(4)) {
    case 0:
      world_.Switch(cpu, kNoMm);
      return "idle";
    case 1:
      world_.Run(cpu, {.kind = OperationKind::kHalt});
      return "halt";
    default:
      Enter(cpu, rng_.Below(mms_.size()));
      return "switch";
  }
}

std::string RandomPrograms::Operate(uint32_t cpu) {
  const Range range = AnyRange();
  const Protection protections[] = {{true, true, false},
                                    {true, false, false},
                                    {true, true, true},
                                    {false, false, false}};
  const Protection& protection = protections[rng_.Below(4)];
  switch (rng_.Below(6)) {
    case 0:
    case 1:
      world_.Mmap(cpu, range.page, range.pages, protection, rng_.Below(3) == 0);
      return "mmap";
    case 2:
      world_.Munmap(cpu, range.page, range.pages);
      return "munmap";
    case 3:
    case 4:
      world_.Mprotect(cpu, range.page, range.pages, protection);
      return "mprotect";
    default: {
      const Range target = AnyRange();
      world_.Run(cpu, {.kind = OperationKind::kMremap,
                       .address = VirtAddr(range.page << kPageShift),
                       .length = range.pages << kPageShift,
                       .dont_unmap = rng_.Below(4) == 0,
                       .new_address = VirtAddr(target.page << kPageShift),
                       .new_length = range.pages << kPageShift});
      return "mremap";
    }
  }
}

std::string RandomPrograms::Advise(uint32_t cpu) {
  constexpr OperationKind kKinds[] = {
      OperationKind::kMadviseDontNeed, OperationKind::kMadviseFree,
      OperationKind::kMadviseHugePage, OperationKind::kMadviseNoHugePage,
      OperationKind::kMadviseCollapse, OperationKind::kReclaim,
      OperationKind::kNumaHint,        OperationKind::kMigratePages,
      OperationKind::kMergePages};
  const OperationKind kind = kKinds[rng_.Below(std::size(kKinds))];
  const Range range = AnyRange();
  const Range other = AnyRange();
  const MmId mm = rng_.Below(2) == 0 ? kNoMm : mms_[rng_.Below(mms_.size())];
  const bool by_kernel = kind >= OperationKind::kReclaim;
  world_.Run(cpu, {.kind = kind,
                   .address = VirtAddr(range.page << kPageShift),
                   .length = range.pages << kPageShift,
                   .new_address = VirtAddr(other.page << kPageShift),
                   .mm = by_kernel ? mm : kNoMm,
                   .node = NodeId(static_cast<uint32_t>(rng_.Below(2)))});
  return std::string(Name(kind));
}

std::string RandomPrograms::Process(uint32_t cpu) {
  const MmId mm = Running(cpu);
  const auto self = std::ranges::find(mms_, mm);
  const bool may_leave = self != mms_.end();
  switch (rng_.Below(3)) {
    case 0:
      if (mms_.size() >= 9) return "no fork";
      mms_.push_back(MmId(static_cast<uint32_t>(
          world_.Run(cpu, {.kind = OperationKind::kFork}))));
      return "fork";
    case 1: {
      // Nobody else may be in it: each program has one task.
      for (uint32_t i = 0; i < kCpus; ++i) {
        if (i != cpu && Running(i) == mm) return "no exec";
      }
      if (!may_leave) return "no exec";
      *self = MmId(static_cast<uint32_t>(
          world_.Run(cpu, {.kind = OperationKind::kExec})));
      return "exec";
    }
    default:
      if (mms_.size() < 3) return "no exit";
      for (uint32_t i = 0; i < kCpus; ++i) {
        if (i != cpu && Running(i) == mm) return "no exit";
      }
      mms_.erase(self);
      world_.Run(cpu, {.kind = OperationKind::kExit});
      return "exit";
  }
}

std::string RandomPrograms::Step() {
  const auto cpu = static_cast<uint32_t>(rng_.Below(kCpus));
  if (rng_.Below(8) == 0) world_.Idle(cpu, Cycles(rng_.Below(200'000)));
  const std::string name = [&]() -> std::string {
    if (Running(cpu) == kNoMm) return Schedule(cpu);
    switch (rng_.Below(16)) {
      case 0:
      case 1:
        return Schedule(cpu);
      case 2:
        return Process(cpu);
      case 3:
      case 4:
      case 5:
        return Operate(cpu);
      case 6:
      case 7:
        return Advise(cpu);
      default:
        return Touch(cpu);
    }
  }();
  return name + " on " + std::to_string(cpu);
}

class KernelRandomTest : public testing::TestWithParam<Arm> {};

TEST_P(KernelRandomTest, NoCpuCanUseAStaleTranslation) {
  const Arm& arm = GetParam();
  SimConfig config = KernelWorld::Config(arm.preset, arm.version, 2, 2);
  config.machine.numa = 2;
  config.paging.node_memory = uint64_t{4} << 30;
  for (const auto& [key, value] : arm.sets) {
    ASSERT_TRUE(Set(config, key, value).ok()) << key;
  }
  ASSERT_TRUE(Validate(config).ok()) << Validate(config);
  for (uint64_t seed = 0; seed < 2; ++seed) {
    KernelWorld world(config);
    RandomPrograms programs(world, seed);
    for (int i = 0; i < Steps(); ++i) {
      const std::string name = programs.Step();
      ASSERT_EQ(world.FindProblem(), "")
          << "after step " << i << " of seed " << seed << ": " << name;
    }
  }
}

class RecordedRandomTest : public testing::TestWithParam<std::string> {};

TEST_P(RecordedRandomTest, NoCheckTrips) {
  SimConfig config = KernelWorld::Config("skylake-sp", GetParam(), 2, 2);
  config.machine.numa = 2;
  config.paging.node_memory = uint64_t{4} << 30;
  ASSERT_TRUE(Set(config, "paging.thp", "madvise").ok());
  KernelWorld world(config);
  RandomPrograms programs(world, 7);
  const CheckCounters& checks = world.machine().checks();
  for (int64_t i = 0; i < Operations(); ++i) {
    const std::string name = programs.Step();
    ASSERT_EQ(checks.violations(), 0u)
        << Name(checks.examples.front().check) << " after operation " << i
        << ": " << name;
  }
  EXPECT_EQ(world.FindProblem(), "");
}

INSTANTIATE_TEST_SUITE_P(Versions, RecordedRandomTest,
                         testing::Values("linux_3.4", "linux_3.6", "linux_3.17",
                                         "linux_4.14", "linux_5.13",
                                         "linux_6.15"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

// Steps until something is wrong, under a kernel without that fix.
bool TripsWithout(const std::string& fix, const std::string& preset,
                  bool kpti) {
  SimConfig config = KernelWorld::Config(preset, "linux_6.15", 2, 2);
  EXPECT_TRUE(Set(config, "kernel.unfixed", fix).ok());
  config.kernel.kpti = kpti;
  config.paging.node_memory = uint64_t{4} << 30;
  KernelWorld world(config);
  RandomPrograms programs(world, 0);
  for (int i = 0; i < 20'000; ++i) {
    programs.Step();
    if (world.FindProblem() != "") return true;
  }
  return false;
}

TEST(UnfixedKernelTest, AUserHalfThatIsForgottenIsFound) {
  EXPECT_TRUE(TripsWithout("user_pcid_flush", "skylake-sp", true));
  EXPECT_TRUE(TripsWithout("user_pcid_flush", "westmere-ep", true));
}

TEST(UnfixedKernelTest, AnAsidThatIsRecycledUnflushedIsFound) {
  EXPECT_TRUE(TripsWithout("asid_recycle", "zen3", false));
}

std::vector<Arm> Arms() {
  std::vector<Arm> arms;
  for (const char* version : {"3.4", "3.6", "3.17", "4.14", "5.13", "6.15"}) {
    std::string name = version;
    std::ranges::replace(name, '.', '_');
    const std::string linux_version = std::string("linux_") + version;
    arms.push_back({"skylake_" + name, "skylake-sp", linux_version, {}});
    arms.push_back({"nehalem_thp_" + name,
                    "nehalem-ep",
                    linux_version,
                    {{"paging.thp", "always"}}});
    if (linux_version < "linux_4" || linux_version == "linux_3.17") continue;
    arms.push_back({"kpti_" + name,
                    "skylake-sp",
                    linux_version,
                    {{"kernel.kpti", "true"}, {"paging.thp", "madvise"}}});
    arms.push_back({"kpti_no_invpcid_" + name,
                    "westmere-ep",
                    linux_version,
                    {{"kernel.kpti", "true"}}});
    arms.push_back({"lazy_ipi_" + name,
                    "zen3",
                    linux_version,
                    {{"kernel.lazy", "ipi"}, {"kernel.flush.ceiling", "3"}}});
    arms.push_back({"lazy_skip_" + name,
                    "zen3",
                    linux_version,
                    {{"kernel.lazy", "skip"}, {"kernel.pcid", "false"}}});
    arms.push_back({"early_ack_" + name,
                    "skylake-sp",
                    linux_version,
                    {{"kernel.flush.policy", "early_ack"}}});
    arms.push_back({"in_context_" + name,
                    "skylake-sp",
                    linux_version,
                    {{"kernel.flush.in_context", "true"},
                     {"kernel.flush.ceiling", "8"},
                     {"kernel.kpti", "true"}}});
    arms.push_back({"abis_" + name,
                    "skylake-sp",
                    linux_version,
                    {{"kernel.flush.policy", "abis"},
                     {"paging.thp", "madvise"},
                     {"kernel.kpti", "true"}}});
    arms.push_back({"latr_" + name,
                    "skylake-sp",
                    linux_version,
                    {{"kernel.flush.policy", "latr"},
                     {"kernel.tick_us", "100"},
                     {"paging.thp", "madvise"},
                     {"kernel.kpti", "true"}}});
    arms.push_back(
        {"never_full_" + name,
         "skylake-sp",
         linux_version,
         {{"kernel.flush.policy", "never_full"}, {"paging.thp", "always"}}});
  }
  return arms;
}

INSTANTIATE_TEST_SUITE_P(
    Footprint, KernelRandomTest,
    testing::Values(
        Arm{"global", "skylake-sp", "linux_6.15", {{"kernel.footprint", "12"}}},
        Arm{"kpti",
            "skylake-sp",
            "linux_5.13",
            {{"kernel.footprint", "40"},
             {"kernel.footprint_2m", "false"},
             {"kernel.kpti", "true"}}},
        Arm{"old", "nehalem-ep", "linux_3.6", {{"kernel.footprint", "8"}}}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Invlpgb, KernelRandomTest,
    testing::Values(
        Arm{"all", "zen3", "linux_6.15", {{"kernel.global_asids", "3"}}},
        Arm{"kpti",
            "zen4",
            "linux_6.15",
            {{"kernel.kpti", "true"}, {"paging.thp", "always"}}},
        Arm{"latr", "zen3", "linux_6.15", {{"kernel.flush.policy", "latr"}}},
        Arm{"abis", "zen3", "linux_6.15", {{"kernel.flush.policy", "abis"}}},
        Arm{"in_context",
            "zen3",
            "linux_6.15",
            {{"kernel.kpti", "true"}, {"kernel.flush.in_context", "true"}}},
        Arm{"ipi", "zen3", "linux_6.15", {{"kernel.remote_flush", "ipi"}}}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Arms, KernelRandomTest, testing::ValuesIn(Arms()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace lookaside
