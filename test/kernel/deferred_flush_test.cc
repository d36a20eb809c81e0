// SPDX-License-Identifier: Apache-2.0
//
// kernel.flush.policy = latr: what is put off, until when, and what never is.
#include "lookaside/kernel/deferred_flush.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lookaside/config/config_edit.h"
#include "lookaside/test/kernel/kernel_world.h"

namespace lookaside {
namespace {

constexpr uint64_t kPage = 512;
// Of kernel.tick_us = 1000 at the preset's 2100 MHz.
constexpr Cycles kTick(2'100'000);

class DeferredFlushTest : public testing::Test {
 protected:
  // CPUs 0 to 2 run one program, which all have touched.
  void Make(const std::string& version = "linux_6.15",
            const std::string& policy = "latr") {
    SimConfig config = KernelWorld::Config("skylake-sp", version, 4, 1);
    ASSERT_TRUE(Set(config, "kernel.flush.policy", policy).ok());
    world_ = std::make_unique<KernelWorld>(config);
    mm_ = world_->NewMm();
    for (uint32_t cpu = 0; cpu < 3; ++cpu) {
      world_->kernel().SwitchTo(world_->hardware(), CpuId(cpu), mm_);
    }
    world_->Mmap(0, kPage, 64);
    for (uint32_t cpu = 0; cpu < 3; ++cpu) {
      for (uint64_t i = 0; i < 8; ++i) world_->Touch(cpu, kPage + i, true);
    }
  }
  void DontNeed(uint64_t page, uint64_t pages) {
    world_->OnRange(0, OperationKind::kMadviseDontNeed, page, pages);
  }
  FlushCounters Flushes(uint32_t cpu) {
    return world_->kernel().flushes(CpuId(cpu));
  }
  size_t Notes() { return world_->kernel().state().deferred.size(); }
  size_t Frames() { return world_->kernel().state().frames.size(); }
  const CheckCounters& Checks() { return world_->machine().checks(); }

  std::unique_ptr<KernelWorld> world_;
  MmId mm_;
};

class DeferredFlushOfVersionTest
    : public DeferredFlushTest,
      public testing::WithParamInterface<const char*> {};

TEST_P(DeferredFlushOfVersionTest, PagesAreFreedAtTheSecondTick) {
  Make(GetParam());
  const size_t frames = Frames();
  DontNeed(kPage, 2);
  EXPECT_EQ(Flushes(0).ipis, 0u);
  EXPECT_EQ(Flushes(0).deferred, 1u);
  EXPECT_EQ(Notes(), 1u);
  EXPECT_EQ(Frames(), frames);
  EXPECT_EQ(world_->FindProblem(), "");

  world_->Idle(0, kTick * 3);
  world_->TakeTicks(0);
  EXPECT_EQ(Notes(), 0u);
  EXPECT_EQ(Frames(), frames - 2);
  EXPECT_EQ(Flushes(0).ipis, 0u);
  for (const uint32_t cpu : {1u, 2u}) EXPECT_EQ(Flushes(cpu).swept, 1u);
  EXPECT_EQ(world_->FindProblem(), "");
}

INSTANTIATE_TEST_SUITE_P(Versions, DeferredFlushOfVersionTest,
                         testing::Values("linux_3.4", "linux_3.6", "linux_3.17",
                                         "linux_4.14", "linux_5.13",
                                         "linux_6.15"));

TEST_F(DeferredFlushTest, UsesUntilTheNextTickAreExposedAndNoneLater) {
  Make();
  DontNeed(kPage, 1);
  EXPECT_TRUE(world_->Touch(1, kPage, false));
  EXPECT_EQ(Checks().exposed, 1u);
  EXPECT_EQ(Checks().violations(), 0u);

  world_->Idle(1, kTick * 2);
  EXPECT_TRUE(world_->Touch(1, kPage, false));  // swept: it faults
  EXPECT_EQ(Checks().exposed, 1u);
  EXPECT_EQ(Checks().violations(), 0u);
}

// C2, had the pages been freed with the note still open.
TEST_F(DeferredFlushTest, APageIsNotFreedWhileSomeoneHasNotSwept) {
  Make();
  DontNeed(kPage, 1);
  const FrameNumber frame =
      world_->kernel().state().deferred.front().pages.front();
  world_->Idle(1, kTick * 2);
  world_->TakeTicks(1);
  EXPECT_TRUE(world_->kernel().state().frames.InUse(frame));
  world_->Idle(2, kTick * 2);
  world_->TakeTicks(2);
  EXPECT_TRUE(world_->kernel().state().frames.InUse(frame));
  world_->Idle(0, kTick * 3);
  world_->TakeTicks(0);
  EXPECT_FALSE(world_->kernel().state().frames.InUse(frame));
  EXPECT_EQ(Checks().violations(), 0u);
}

TEST_F(DeferredFlushTest, AContextSwitchSweepsWhatIsStillLoaded) {
  Make();
  DontNeed(kPage, 1);
  const MmId other = world_->NewMm();
  world_->Switch(1, other);
  EXPECT_EQ(Flushes(1).swept, 1u);
  world_->Switch(1, mm_);
  EXPECT_TRUE(world_->Touch(1, kPage + 1, false));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(DeferredFlushTest, APageThatIsTouchedAnewSettlesTheNoteFirst) {
  Make();
  DontNeed(kPage, 1);
  EXPECT_TRUE(world_->Touch(0, kPage, true));
  EXPECT_EQ(Notes(), 0u);
  EXPECT_EQ(Flushes(0).ipis, 2u);
  // Nobody is left with the page that was given up.
  for (const uint32_t cpu : {1u, 2u}) {
    EXPECT_TRUE(world_->Touch(cpu, kPage, false));
  }
  EXPECT_EQ(Checks().exposed, 0u);
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(DeferredFlushTest, AnAddressThatIsMappedAgainSettlesTheNoteFirst) {
  Make();
  world_->Munmap(0, kPage + 1, 2);
  ASSERT_EQ(Notes(), 1u);
  world_->Mmap(0, kPage + 2, 1);
  EXPECT_EQ(Notes(), 0u);
  EXPECT_EQ(world_->FindProblem(), "");
}

// A hinted entry is not present; mprotect would conclude that nobody has it.
TEST_F(DeferredFlushTest, MprotectOfAHintedPageTellsTheOthers) {
  Make();
  world_->OnRange(0, OperationKind::kNumaHint, kPage, 1);
  ASSERT_EQ(Notes(), 1u);
  world_->Mprotect(0, kPage, 1, {true, false, false});
  EXPECT_EQ(Notes(), 0u);
  EXPECT_FALSE(world_->Touch(1, kPage, true));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(DeferredFlushTest, MremapOfAHintedPageTellsTheOthers) {
  Make();
  world_->OnRange(0, OperationKind::kNumaHint, kPage, 1);
  world_->Run(0, {.kind = OperationKind::kMremap,
                  .address = VirtAddr(kPage << kPageShift),
                  .length = kPageBytes,
                  .new_address = VirtAddr((kPage + 512) << kPageShift),
                  .new_length = kPageBytes});
  EXPECT_EQ(Notes(), 0u);
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(DeferredFlushTest, WhatOthersMustSeeAtOnceIsNotPutOff) {
  Make();
  world_->Mprotect(0, kPage, 1, {true, false, false});
  world_->OnRange(0, OperationKind::kMadviseFree, kPage + 1, 1);
  world_->OnRange(0, OperationKind::kReclaim, kPage + 2, 1);
  world_->OnRange(0, OperationKind::kMigratePages, kPage + 3, 1);
  world_->Run(0, {.kind = OperationKind::kFork});
  world_->Touch(0, kPage + 4, true);  // copy on write
  EXPECT_EQ(Flushes(0).deferred, 0u);
  EXPECT_EQ(Notes(), 0u);
}

TEST_F(DeferredFlushTest, AFlushThatFreesTablesIsNotPutOff) {
  Make();
  world_->Munmap(0, kPage, 64);
  EXPECT_EQ(Flushes(0).deferred, 0u);
  EXPECT_EQ(Flushes(0).ipis, 2u);
}

TEST_F(DeferredFlushTest, ExitSettlesEverything) {
  Make();
  DontNeed(kPage, 3);
  for (const uint32_t cpu : {1u, 2u}) world_->Switch(cpu, kNoMm);
  world_->Run(0, {.kind = OperationKind::kExit});
  EXPECT_EQ(Notes(), 0u);
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(DeferredFlushTest, WithoutRoomForANoteInterruptsAreSent) {
  Make();
  world_->Mmap(0, kPage, 1024);
  for (uint64_t i = 0; i <= kMostDeferred; ++i) {
    world_->Touch(0, kPage + i, true);
  }
  for (uint64_t i = 0; i <= kMostDeferred; ++i) {
    world_->OnRange(0, OperationKind::kNumaHint, kPage + i, 1);
    if (Notes() == kMostDeferred) break;
    ASSERT_EQ(Flushes(0).ipis, 2u * (Flushes(0).requests - Flushes(0).deferred))
        << i;
  }
  // Nothing ticks while no time passes but the operations' own.
  ASSERT_EQ(Notes(), kMostDeferred);
  const uint64_t ipis = Flushes(0).ipis;
  world_->OnRange(0, OperationKind::kNumaHint, kPage + kMostDeferred, 1);
  EXPECT_EQ(Flushes(0).ipis, ipis + 2);
}

TEST_F(DeferredFlushTest, LeavingANoteCostsWhatTheKeySays) {
  Make();
  const CostLedger before = world_->machine().cpu(CpuId(0)).ledger();
  DontNeed(kPage, 1);
  const CostLedger& after = world_->machine().cpu(CpuId(0)).ledger();
  EXPECT_EQ(after[CostKind::kFlushSend] - before[CostKind::kFlushSend],
            world_->machine().costs().latr_save);
  EXPECT_EQ(after[CostKind::kFlushWait], before[CostKind::kFlushWait]);
}

// Bounded where the initiator cannot wait for a CPU's own tick: a driver that
// interleaves CPUs.
TEST_F(DeferredFlushTest, WhoHasNotSweptByTheSecondTickIsInterrupted) {
  Make();
  DontNeed(kPage, 1);
  world_->Idle(0, kTick * 3);
  Kernel& kernel = world_->kernel();
  kernel.StartTick(world_->hardware(), CpuId(0));
  while (kernel.Step(world_->hardware(), CpuId(0)) == StackState::kReady) {
  }
  EXPECT_EQ(Flushes(0).ipis, 2u);
  for (const uint32_t cpu : {1u, 2u}) {
    ASSERT_TRUE(kernel.TakeInterrupt(world_->hardware(), CpuId(cpu)));
    while (kernel.Step(world_->hardware(), CpuId(cpu)) != StackState::kEmpty) {
    }
  }
  while (kernel.Step(world_->hardware(), CpuId(0)) != StackState::kEmpty) {
  }
  EXPECT_EQ(Notes(), 0u);
  EXPECT_EQ(world_->FindProblem(), "");
}

}  // namespace
}  // namespace lookaside
