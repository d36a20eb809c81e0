// SPDX-License-Identifier: Apache-2.0
//
// The catch-up rule of flush_tlb_func, case by case, and what a CPU knows of
// its ASIDs.
#include <gtest/gtest.h>

#include <memory>

#include "lookaside/config/config_edit.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/test/kernel/kernel_world.h"

namespace lookaside {
namespace {

class FlushFuncTest : public testing::Test {
 protected:
  explicit FlushFuncTest(const std::string& unfixed = "")
      : config_(KernelWorld::Config("textbook", "linux_5.13", 2, 1)) {
    EXPECT_TRUE(Set(config_, "kernel.unfixed", unfixed).ok());
    machine_ = *Machine::Create(MachineConfigOf(config_, 0));
    hardware_ = std::make_unique<BareMetal>(*machine_);
    state_ = std::make_unique<KernelState>(
        KernelRules::From(config_.kernel, config_.machine, config_.tlb),
        ThpPolicy::kNever, false);
    KernelContext k = Context();
    mm_ = *NewMm(k);
    Load(mm_);
  }

  KernelContext Context() {
    return {.kernel = *state_, .hardware = *hardware_, .cpu = CpuId(0)};
  }

  void Load(MmId mm) {
    KernelContext k = Context();
    const Mm& next = state_->mm(mm);
    const AsidChoice choice = ChooseAsid(k, next.ctx_id, next.tlb_gen);
    flushed_ = choice.flush;
    ASSERT_TRUE(LoadCr3(k, mm, choice.asid, choice.flush).ok());
    k.tlb().loaded_asid = choice.asid;
    if (choice.flush) {
      k.tlb().contexts[choice.asid] = {next.ctx_id, next.tlb_gen};
    }
    SetLoadedMm(k, mm);
  }

  // Runs flush_tlb_func for F = `gen` with L = `local` and M = `latest`.
  struct Outcome {
    uint64_t invlpg;
    uint64_t full;
    uint64_t local_gen;

    friend bool operator==(const Outcome&, const Outcome&) = default;
  };
  Outcome Run(uint64_t local, uint64_t latest, uint64_t gen, bool all) {
    KernelContext k = Context();
    AsidContext& context = k.tlb().contexts[k.tlb().loaded_asid];
    context.tlb_gen = local;
    state_->mm(mm_).tlb_gen = latest;
    FlushFuncLocals locals;
    locals.info.mm = mm_;
    locals.info.start = VirtPage(8);
    locals.info.end = VirtPage(11);
    locals.info.all = all;
    locals.info.new_tlb_gen = gen;
    const FlushCounters before = k.flushes();
    RunFrame(StepFrame(IdOf(KernelProgram::kFlushTlbFunc), locals));
    FlushCounters done = k.flushes();
    done -= before;
    return {done.invlpg, done.full_local, context.tlb_gen};
  }

  uint64_t WrongClaims() {
    return machine_->checks().by_check[static_cast<size_t>(Check::kC5)];
  }

  void RunFrame(const StepFrame& frame) {
    KernelContext k = Context();
    const KernelPrograms programs = ProgramsOf(state_->rules);
    StepStack stack;
    stack.Push(frame);
    while (RunStep(k, ProgramTable<KernelContext>(programs), stack) ==
           StackState::kReady) {
    }
    EXPECT_TRUE(stack.empty());
  }

  SimConfig config_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<BareMetal> hardware_;
  std::unique_ptr<KernelState> state_;
  MmId mm_;
  bool flushed_ = false;
};

TEST_F(FlushFuncTest, EveryClaimIsTrue) {
  for (uint64_t local = 3; local <= 6; ++local) {
    for (uint64_t latest = local; latest <= 7; ++latest) {
      for (uint64_t gen = 0; gen <= latest; ++gen) {
        Run(local, latest, gen, false);
        Run(local, latest, gen, true);
      }
    }
  }
  EXPECT_EQ(WrongClaims(), 0u);
}

TEST_F(FlushFuncTest, TheNextAndLatestGenerationGoesPageByPage) {
  EXPECT_EQ(Run(4, 5, 5, false), (Outcome{3, 0, 5}));
}

TEST_F(FlushFuncTest, AFlushOfAllIsFull) {
  EXPECT_EQ(Run(4, 5, 5, true), (Outcome{0, 1, 5}));
}

TEST_F(FlushFuncTest, AGapMakesItFull) {
  EXPECT_EQ(Run(3, 5, 5, false), (Outcome{0, 1, 5}));
}

TEST_F(FlushFuncTest, ALaterGenerationMakesItFullAndCoversIt) {
  EXPECT_EQ(Run(4, 6, 5, false), (Outcome{0, 1, 6}));
  EXPECT_EQ(Run(6, 6, 6, false), (Outcome{0, 0, 6}));
}

TEST_F(FlushFuncTest, WhatIsCoveredDoesNothing) {
  EXPECT_EQ(Run(5, 6, 5, false), (Outcome{0, 0, 5}));
  EXPECT_EQ(Run(6, 6, 6, true), (Outcome{0, 0, 6}));
}

TEST_F(FlushFuncTest, AFlushWithoutAGenerationIsFullUnlessUpToDate) {
  EXPECT_EQ(Run(4, 5, 0, false), (Outcome{0, 1, 5}));
  EXPECT_EQ(Run(5, 5, 0, false), (Outcome{0, 0, 5}));
}

class WithoutNoGapTest : public FlushFuncTest {
 protected:
  WithoutNoGapTest() : FlushFuncTest("no_gap") {}
};
TEST_F(WithoutNoGapTest, AGapIsOverlooked) {
  EXPECT_EQ(Run(3, 5, 5, false), (Outcome{3, 0, 5}));
  EXPECT_EQ(WrongClaims(), 1u);
}

class WithoutNoOverclaimTest : public FlushFuncTest {
 protected:
  WithoutNoOverclaimTest() : FlushFuncTest("no_overclaim") {}
};
TEST_F(WithoutNoOverclaimTest, MoreIsClaimedThanWasFlushed) {
  EXPECT_EQ(Run(4, 6, 5, false), (Outcome{3, 0, 6}));
  EXPECT_EQ(WrongClaims(), 1u);
}

TEST_F(FlushFuncTest, SixAddressSpacesKeepTheirAsids) {
  KernelContext k = Context();
  std::vector<MmId> mms = {mm_};
  for (int i = 1; i < 6; ++i) {
    mms.push_back(*NewMm(k));
    Load(mms.back());
    EXPECT_TRUE(flushed_) << i;
  }
  for (const MmId mm : mms) {
    Load(mm);
    EXPECT_FALSE(flushed_);
  }
}

TEST_F(FlushFuncTest, TheSeventhTakesAnAsidAndFlushesIt) {
  KernelContext k = Context();
  std::vector<MmId> mms = {mm_};
  for (int i = 1; i < 7; ++i) {
    mms.push_back(*NewMm(k));
    Load(mms.back());
    EXPECT_TRUE(flushed_) << i;
  }
  // The round began at ASID 1: the seventh has the second's.
  Load(mms[2]);
  EXPECT_FALSE(flushed_);
  Load(mms[0]);
  EXPECT_TRUE(flushed_ || k.tlb().loaded_asid == 1);
}

TEST_F(FlushFuncTest, AnAsidThatFellBehindIsFlushed) {
  KernelContext k = Context();
  const MmId other = *NewMm(k);
  Load(other);
  ++state_->mm(mm_).tlb_gen;
  Load(mm_);
  EXPECT_TRUE(flushed_);
  Load(other);
  EXPECT_FALSE(flushed_);
}

TEST_F(FlushFuncTest, InvalidateOtherForgetsAllAsidsButTheLoadedOne) {
  KernelContext k = Context();
  const MmId other = *NewMm(k);
  Load(other);
  k.tlb().invalidate_other = true;
  Load(mm_);
  EXPECT_TRUE(flushed_);
  Load(other);
  EXPECT_FALSE(flushed_);
  EXPECT_FALSE(k.tlb().invalidate_other);
}

}  // namespace
}  // namespace lookaside
