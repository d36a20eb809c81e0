// SPDX-License-Identifier: Apache-2.0
//
// Races that kernels shipped with, step by step: with the fix no CPU uses a
// stale translation after the promise was given, without it one can. What a
// replay in recorded order cannot show.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lookaside/config/config_edit.h"
#include "lookaside/test/kernel/kernel_world.h"

namespace lookaside {
namespace {

constexpr uint32_t kOne = 0;  // CPUs
constexpr uint32_t kTwo = 1;
constexpr uint32_t kThree = 2;
constexpr uint64_t kPage = 512;

Operation OnPages(OperationKind kind, uint64_t pages) {
  return {.kind = kind,
          .address = VirtAddr(kPage << kPageShift),
          .length = pages << kPageShift};
}

class RaceTest : public testing::Test {
 protected:
  void Make(const std::string& version, const std::string& unfixed) {
    SimConfig config = KernelWorld::Config(preset_, version, 4, 1);
    config.machine.numa = 2;
    ASSERT_TRUE(Set(config, "kernel.unfixed", unfixed).ok());
    ASSERT_TRUE(Set(config, "kernel.flush.policy", policy_).ok());
    world_ = std::make_unique<KernelWorld>(config);
    world_->kernel().set_split(true);
    mm_ = world_->NewMm();
    for (const uint32_t cpu : {kOne, kTwo, kThree}) world_->Switch(cpu, mm_);
    world_->Mmap(kOne, kPage, 8);
  }

  void Start(uint32_t cpu, const Operation& operation) {
    world_->kernel().Start(world_->hardware(), CpuId(cpu), operation);
  }
  StackState Step(uint32_t cpu) {
    return world_->kernel().Step(world_->hardware(), CpuId(cpu));
  }
  std::string StepName(uint32_t cpu) {
    const StepFrame& frame = world_->machine().cpu(CpuId(cpu)).steps().top();
    const KernelPrograms programs = ProgramsOf(world_->kernel().state().rules);
    const KernelSteps& program = *programs[frame.program().value()];
    return std::string(program.name) + "." +
           std::string(program.steps[frame.pc()].name);
  }
  // Up to, and without, the step of that name.
  void RunUntil(uint32_t cpu, const std::string& name) {
    for (int i = 0; i < 1000 && StepName(cpu) != name; ++i) {
      ASSERT_EQ(Step(cpu), StackState::kReady) << StepName(cpu);
    }
    ASSERT_EQ(StepName(cpu), name);
  }
  // To the end; whoever it waits for takes its interrupts meanwhile. False if
  // it waits for something else.
  bool Finish(uint32_t cpu) {
    for (int i = 0; i < 10'000; ++i) {
      const StackState state = Step(cpu);
      if (state == StackState::kEmpty) return true;
      if (state == StackState::kWaiting && !LetOthersAnswer(cpu)) return false;
    }
    return false;
  }

  // The fixed arm of a race, under every policy that puts something off and
  // with broadcasts.
  template <typename Race>
  void HoldsUnderEveryPolicy(Race race) {
    for (const char* const preset : {"skylake-sp", "zen3"}) {
      for (const char* const policy :
           {"always_full", "never_full", "early_ack", "abis", "latr"}) {
        preset_ = preset;
        policy_ = policy;
        EXPECT_EQ(race(), "") << preset << " " << policy;
        EXPECT_TRUE(Finish(kOne)) << preset << " " << policy;
        EXPECT_EQ(world_->FindProblem(), "") << preset << " " << policy;
      }
    }
  }

  std::string preset_ = "skylake-sp";
  std::string policy_ = "auto";
  std::unique_ptr<KernelWorld> world_;
  MmId mm_;

 private:
  bool LetOthersAnswer(uint32_t cpu) {
    bool any = false;
    for (const uint32_t other : {kOne, kTwo, kThree}) {
      if (other == cpu) continue;
      const size_t depth = world_->machine().cpu(CpuId(other)).steps().depth();
      if (!world_->kernel().TakeInterrupt(world_->hardware(), CpuId(other))) {
        continue;
      }
      any = true;
      while (world_->machine().cpu(CpuId(other)).steps().depth() > depth) {
        Step(other);
      }
    }
    return any;
  }
};

// 99baac21e458: the second caller finds nothing to unmap and returns, while
// the first has not flushed.
class NestedGatherTest : public RaceTest {
 protected:
  std::string StaleAfterTheSecondReturned(const std::string& unfixed) {
    Make("linux_6.15", unfixed);
    world_->Touch(kThree, kPage, true);
    Start(kOne, OnPages(OperationKind::kMadviseDontNeed, 1));
    RunUntil(kOne, "unmap_page_range.unlock");
    Step(kOne);
    Start(kTwo, OnPages(OperationKind::kMadviseDontNeed, 1));
    EXPECT_TRUE(Finish(kTwo));
    return world_->FindStale();
  }
};

TEST_F(NestedGatherTest, TheSecondCallersPromiseHolds) {
  EXPECT_EQ(StaleAfterTheSecondReturned(""), "");
  EXPECT_TRUE(Finish(kOne));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(NestedGatherTest, HoldsUnderEveryPolicy) {
  RaceTest::HoldsUnderEveryPolicy(
      [&] { return StaleAfterTheSecondReturned(""); });
}

TEST_F(NestedGatherTest, WithoutTheFixItIsBroken) {
  EXPECT_NE(StaleAfterTheSecondReturned("99baac21e458"), "");
}

// 3ea277194daa: reclaim has cleared an entry and not flushed it; mprotect
// finds nothing present.
class BatchedUnmapTest : public RaceTest {
 protected:
  std::string StaleAfterMprotect(const std::string& unfixed) {
    Make("linux_6.15", unfixed);
    world_->Touch(kThree, kPage, true);
    Start(kOne, OnPages(OperationKind::kReclaim, 1));
    RunUntil(kOne, "reclaim.flush_batch");
    Operation protect = OnPages(OperationKind::kMprotect, 1);
    protect.protection = {true, false, false};
    Start(kTwo, protect);
    EXPECT_TRUE(Finish(kTwo));
    return world_->FindStale();
  }
};

TEST_F(BatchedUnmapTest, MprotectDoesTheFlushThatIsOwed) {
  EXPECT_EQ(StaleAfterMprotect(""), "");
  EXPECT_TRUE(Finish(kOne));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(BatchedUnmapTest, HoldsUnderEveryPolicy) {
  RaceTest::HoldsUnderEveryPolicy([&] { return StaleAfterMprotect(""); });
}

TEST_F(BatchedUnmapTest, WithoutTheFixAnOldTranslationStaysInUse) {
  EXPECT_NE(StaleAfterMprotect("3ea277194daa"), "");
}

// eb66ae030829: once the page-table lock is free, the page is found at its new
// place while the old translation is in use.
class MremapTest : public RaceTest {
 protected:
  std::string StaleOnceUnlocked(const std::string& unfixed) {
    Make("linux_6.15", unfixed);
    world_->Touch(kThree, kPage, true);
    Operation move = OnPages(OperationKind::kMremap, 1);
    move.new_address = VirtAddr((kPage + 100) << kPageShift);
    move.new_length = kPageBytes;
    Start(kOne, move);
    for (int i = 0; i < 1000 && StepName(kOne) != "mremap.flush_late"; ++i) {
      if (Step(kOne) != StackState::kWaiting) continue;
      for (const uint32_t other : {kTwo, kThree}) {
        if (!world_->kernel().TakeInterrupt(world_->hardware(), CpuId(other))) {
          continue;
        }
        while (Step(other) == StackState::kReady) {
        }
      }
    }
    EXPECT_FALSE(world_->kernel().mm(mm_).page_table_lock.HeldBy(CpuId(kOne)));
    return world_->FindStale();
  }
};

TEST_F(MremapTest, TheOldPlaceIsFlushedUnderTheLock) {
  EXPECT_EQ(StaleOnceUnlocked(""), "");
  EXPECT_TRUE(Finish(kOne));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(MremapTest, HoldsUnderEveryPolicy) {
  RaceTest::HoldsUnderEveryPolicy([&] { return StaleOnceUnlocked(""); });
}

TEST_F(MremapTest, WithoutTheFixTheLockIsDroppedFirst) {
  EXPECT_NE(StaleOnceUnlocked("eb66ae030829"), "");
}

// fea4e317f9e7: the CPU has loaded the table and not yet said so.
class SwitchingTest : public RaceTest {
 protected:
  std::string StaleAfterFlush(const std::string& unfixed) {
    Make("linux_6.15", unfixed);
    const MmId other = world_->NewMm();
    world_->Touch(kThree, kPage, true);
    world_->Switch(kThree, other);
    Start(kThree, {.kind = OperationKind::kSwitch, .mm = mm_});
    RunUntil(kThree, "switch_mm_irqs_off.set_loaded");
    Start(kOne, OnPages(OperationKind::kMadviseDontNeed, 1));
    while (Step(kOne) == StackState::kReady) {
    }
    // Told, it waits until the CPU can be interrupted; spared, it is done.
    told_ = world_->machine().cpu(CpuId(kThree)).interrupts().size() == 1;
    EXPECT_FALSE(
        world_->kernel().TakeInterrupt(world_->hardware(), CpuId(kThree)));
    EXPECT_TRUE(Finish(kThree));
    if (told_) {
      EXPECT_TRUE(Finish(kOne));
    }
    return world_->FindStale();
  }
  bool told_ = false;
};

TEST_F(SwitchingTest, ACpuThatIsSwitchingIsTold) {
  EXPECT_EQ(StaleAfterFlush(""), "");
  EXPECT_TRUE(told_);
}

TEST_F(SwitchingTest, WithoutTheFixItIsSpared) {
  EXPECT_NE(StaleAfterFlush("fea4e317f9e7"), "");
  EXPECT_FALSE(told_);
}

TEST_F(RaceTest, OperationsOnOneAddressSpaceWaitForOneAnother) {
  Make("linux_6.15", "");
  world_->Touch(kOne, kPage, true);
  Operation protect = OnPages(OperationKind::kMprotect, 1);
  protect.protection = {true, false, false};
  Start(kOne, protect);
  RunUntil(kOne, "mprotect.change");
  Start(kTwo, OnPages(OperationKind::kMunmap, 1));
  while (Step(kTwo) == StackState::kReady) {
  }
  ASSERT_TRUE(world_->machine().cpu(CpuId(kTwo)).steps().waiting());
  EXPECT_EQ(world_->machine().cpu(CpuId(kTwo)).steps().waiting()->what,
            static_cast<uint16_t>(KernelWait::kMmapLock));
  EXPECT_TRUE(Finish(kOne));
  EXPECT_TRUE(Finish(kTwo));
  EXPECT_FALSE(world_->Lookup(mm_, kPage));
  EXPECT_EQ(world_->FindProblem(), "");
}

// Each step was interleaved with an interrupt: its handler left 0 behind.
TEST_F(RaceTest, AnInterruptLeavesWhatTheOperationReturned) {
  Make("linux_6.15", "");
  world_->Touch(kTwo, kPage, true);
  Operation protect = OnPages(OperationKind::kMprotect, 1);
  protect.address = VirtAddr(2 * kPage << kPageShift);  // nothing is there
  Start(kOne, protect);
  RunUntil(kOne, "return_to_user.return");
  const uint64_t error = world_->machine().cpu(CpuId(kOne)).steps().returned();
  ASSERT_LT(static_cast<int64_t>(error), 0);
  Start(kTwo, OnPages(OperationKind::kMadviseDontNeed, 1));
  EXPECT_TRUE(Finish(kTwo));  // interrupts the first, before its return
  EXPECT_EQ(world_->kernel().flushes(CpuId(kOne)).interrupts, 1u);
  EXPECT_TRUE(Finish(kOne));
  EXPECT_EQ(world_->machine().cpu(CpuId(kOne)).steps().returned(), error);
}

// Delivery clears RFLAGS.IF: between it and the handler's first step another
// entry for the same interrupt was pushed.
TEST_F(RaceTest, AnInterruptIsTakenOnce) {
  Make("linux_6.15", "");
  world_->Touch(kTwo, kPage, true);
  Start(kOne, OnPages(OperationKind::kMadviseDontNeed, 1));
  while (Step(kOne) == StackState::kReady) {
  }
  EXPECT_TRUE(world_->kernel().TakeInterrupt(world_->hardware(), CpuId(kTwo)));
  EXPECT_FALSE(world_->kernel().TakeInterrupt(world_->hardware(), CpuId(kTwo)));
}

// Reclaim found the page, and had still to take the page-table lock.
TEST_F(RaceTest, ReclaimLeavesAPageThatWasUnmappedMeanwhile) {
  Make("linux_6.15", "");
  world_->Touch(kThree, kPage, true);
  Start(kOne, OnPages(OperationKind::kReclaim, 1));
  RunUntil(kOne, "reclaim.lock_table");
  Start(kTwo, OnPages(OperationKind::kMadviseDontNeed, 1));
  EXPECT_TRUE(Finish(kTwo));
  EXPECT_TRUE(Finish(kOne));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(RaceTest, MigrationLeavesAPageThatWasReclaimedMeanwhile) {
  Make("linux_6.15", "");
  world_->Touch(kThree, kPage, true);
  Operation move = OnPages(OperationKind::kMigratePages, 1);
  move.node = NodeId(0);  // the page is on that of the third CPU
  Start(kOne, move);
  while (StepName(kOne) != "migrate_pages.lock_table") {
    ASSERT_EQ(Step(kOne), StackState::kReady) << StepName(kOne);
  }
  Start(kTwo, OnPages(OperationKind::kReclaim, 1));
  EXPECT_TRUE(Finish(kTwo));
  EXPECT_TRUE(Finish(kOne));
  EXPECT_EQ(world_->FindProblem(), "");
}

// Two CPUs share one of the 32 vectors of 3.4 only if there are more CPUs.
TEST_F(RaceTest, AFlushWaitsForItsVector) {
  SimConfig config = KernelWorld::Config("skylake-sp", "linux_3.4", 40, 1);
  world_ = std::make_unique<KernelWorld>(config);
  mm_ = world_->NewMm();
  for (const uint32_t cpu : {0u, 32u, 1u}) world_->Switch(cpu, mm_);
  world_->Mmap(0, kPage, 8);
  for (const uint64_t i : {0u, 1u}) world_->Touch(1, kPage + i, true);
  Start(0, OnPages(OperationKind::kMadviseDontNeed, 1));
  while (Step(0) == StackState::kReady) {
  }
  Operation second = OnPages(OperationKind::kMadviseDontNeed, 1);
  second.address = VirtAddr((kPage + 1) << kPageShift);
  Start(32, second);
  while (Step(32) == StackState::kReady) {
  }
  EXPECT_EQ(world_->machine().cpu(CpuId(32)).steps().waiting()->what,
            static_cast<uint16_t>(KernelWait::kFlushVector));
}

// latr: an operation settles a note that a CPU is about to take itself off.
TEST_F(RaceTest, ANoteMayBeSettledWhileItIsSwept) {
  policy_ = "latr";
  Make("linux_6.15", "");
  for (const uint32_t cpu : {kTwo, kThree}) world_->Touch(cpu, kPage, true);
  world_->OnRange(kOne, OperationKind::kNumaHint, kPage, 1);
  ASSERT_EQ(world_->kernel().state().deferred.size(), 1u);
  world_->kernel().StartTick(world_->hardware(), CpuId(kThree));
  RunUntil(kThree, "sweep_deferred.clear_mask");
  Operation protect = OnPages(OperationKind::kMprotect, 1);
  protect.protection = {true, false, false};
  Start(kTwo, protect);
  EXPECT_FALSE(Finish(kTwo)) << "its interrupts are off";
  while (Step(kThree) != StackState::kEmpty) {
  }
  EXPECT_TRUE(Finish(kTwo));
  EXPECT_TRUE(world_->kernel().state().deferred.empty());
  EXPECT_EQ(world_->FindProblem(), "");
}

}  // namespace
}  // namespace lookaside
