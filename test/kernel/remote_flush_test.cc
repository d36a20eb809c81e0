// SPDX-License-Identifier: Apache-2.0
//
// kernel.remote_flush = invlpgb: who gets a global ASID, what a flush to it
// does, and what becomes of one that is given back.
#include "lookaside/kernel/remote_flush.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/kernel/global_asids.h"
#include "lookaside/test/kernel/kernel_world.h"

namespace lookaside {
namespace {

constexpr uint64_t kPage = 512;

TEST(GlobalAsids, ComeBackOnlyAfterARollover) {
  GlobalAsids asids(2);
  EXPECT_EQ(asids.Allocate()->asid, 6);
  EXPECT_EQ(asids.Allocate()->asid, 7);
  EXPECT_FALSE(asids.Allocate());
  asids.Free(7);
  asids.Free(6);
  const auto again = asids.Allocate();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->asid, 6);
  EXPECT_TRUE(again->rolled_over);
  asids.Free(6);  // after the flush: not covered by it
  const auto second = asids.Allocate();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->asid, 7);
  EXPECT_FALSE(second->rolled_over);
  EXPECT_TRUE(asids.Allocate()->rolled_over);
}

class RemoteFlushTest : public testing::Test {
 protected:
  using Sets = std::vector<std::pair<std::string, std::string>>;

  void Make(uint32_t cpus, const Sets& sets = {}) {
    SimConfig config = KernelWorld::Config("zen3", "linux_6.15", 8, 1);
    for (const auto& [key, value] : sets) {
      ASSERT_TRUE(Set(config, key, value).ok()) << key;
    }
    ASSERT_TRUE(Validate(config).ok()) << Validate(config);
    world_ = std::make_unique<KernelWorld>(config);
    cpus_ = cpus;
    mm_ = Start(kPage);
  }
  // A program on all CPUs, with pages from `page` on.
  MmId Start(uint64_t page) {
    const MmId mm = world_->NewMm();
    for (uint32_t cpu = 0; cpu < cpus_; ++cpu) world_->Switch(cpu, mm);
    world_->Mmap(0, page, 64);
    world_->Touch(0, page + 63, true);  // its table stays
    return mm;
  }
  // Gives one page up that all have touched.
  void FlushOne(uint64_t page) {
    for (uint32_t cpu = 0; cpu < cpus_; ++cpu) world_->Touch(cpu, page, true);
    world_->OnRange(0, OperationKind::kMadviseDontNeed, page, 1);
  }
  void Flush(uint64_t page, int times) {
    for (int i = 0; i < times; ++i) FlushOne(page);
  }
  FlushCounters Flushes() { return world_->kernel().flushes(CpuId(0)); }
  uint16_t GlobalAsid(MmId mm) { return world_->kernel().mm(mm).global_asid; }
  uint64_t Count(Check check) {
    return world_->machine().checks().by_check[static_cast<size_t>(check)];
  }

  std::unique_ptr<KernelWorld> world_;
  uint32_t cpus_ = 0;
  MmId mm_;
};

TEST_F(RemoteFlushTest, WhatRunsOnMoreThanThreeCpusGetsAGlobalAsid) {
  Make(4);
  Flush(kPage, 31);
  EXPECT_EQ(GlobalAsid(mm_), 0);
  Flush(kPage, 1);
  EXPECT_EQ(GlobalAsid(mm_), 6);
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(RemoteFlushTest, WhatRunsOnThreeDoesNot) {
  Make(3);
  Flush(kPage, 100);
  EXPECT_EQ(GlobalAsid(mm_), 0);
}

TEST_F(RemoteFlushTest, OnceAllHaveTakenItUpNobodyIsInterrupted) {
  Make(4);
  Flush(kPage, 34);  // the 33rd tells them, the 34th sees that they have it
  EXPECT_FALSE(world_->kernel().mm(mm_).asid_transition);
  const FlushCounters before = Flushes();
  Flush(kPage, 10);
  FlushCounters done = Flushes();
  done -= before;
  EXPECT_EQ(done.ipis, 0u);
  EXPECT_EQ(done.broadcasts, 10u);
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(RemoteFlushTest, ABroadcastCostsAnInvlpgbForEightPagesAndASync) {
  Make(4);
  Flush(kPage, 34);
  for (uint64_t i = 0; i < 20; ++i) world_->Touch(0, kPage + i, true);
  const CostLedger before = world_->machine().cpu(CpuId(0)).ledger();
  world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage, 20);
  const CostLedger& after = world_->machine().cpu(CpuId(0)).ledger();
  const CostModel& costs = world_->machine().costs();
  EXPECT_EQ(after[CostKind::kInvalidate] - before[CostKind::kInvalidate],
            costs.invlpgb * 3);
  EXPECT_EQ(after[CostKind::kFlushWait] - before[CostKind::kFlushWait],
            costs.tlbsync);
}

TEST_F(RemoteFlushTest, ACpuThatComesBackNeedsNoFlush) {
  Make(4);
  Flush(kPage, 34);
  world_->Switch(3, world_->NewMm());
  FlushOne(kPage + 1);
  world_->Switch(3, mm_);
  EXPECT_EQ(world_->FindProblem(), "");
  EXPECT_TRUE(world_->Touch(3, kPage + 1, false));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(RemoteFlushTest, ByInterruptsNobodyGetsOne) {
  Make(4, {{"kernel.remote_flush", "ipi"}});
  Flush(kPage, 100);
  EXPECT_EQ(GlobalAsid(mm_), 0);
  EXPECT_EQ(Flushes().broadcasts, 0u);
}

// Program A ends with a translation in CPU 1, as a speculative walk may leave
// it there: what the rollover's flush is for.
class RolloverTest : public RemoteFlushTest {
 protected:
  void ReuseTheAsid(const std::string& unfixed) {
    Make(4, {{"kernel.global_asids", "1"}, {"kernel.unfixed", unfixed}});
    Flush(kPage, 34);
    ASSERT_EQ(GlobalAsid(mm_), 6);
    world_->Run(0, {.kind = OperationKind::kExit});
    world_->Touch(1, kPage, true);
    // Another place, so that no table of A's is in the way.
    const uint64_t other = kPage + (uint64_t{1} << 27);
    const MmId next = Start(other);
    Flush(other, 34);
    ASSERT_EQ(GlobalAsid(next), 6);
  }
};

TEST_F(RolloverTest, AnAsidThatComesBackBringsNothingWithIt) {
  ReuseTheAsid("");
  EXPECT_EQ(Count(Check::kC4), 0u);
}

TEST_F(RolloverTest, WithoutItsFlushTheFormerOwnersTranslationsAreBack) {
  ReuseTheAsid("global_asid_rollover");
  EXPECT_GT(Count(Check::kC4), 0u);
}

std::string ErrorOf(const std::string& preset,
                    const std::vector<std::pair<std::string, std::string>>& s) {
  SimConfig config = *LoadPreset(preset);
  for (const auto& [key, value] : s) EXPECT_TRUE(Set(config, key, value).ok());
  return Message(Validate(config));
}

TEST(RemoteFlushKey, AnImpossibleChoiceIsOneClearError) {
  const std::pair<std::string, std::string> invlpgb = {"kernel.remote_flush",
                                                       "invlpgb"};
  EXPECT_EQ(ErrorOf("zen3", {invlpgb}), "");
  EXPECT_EQ(ErrorOf("zen3", {invlpgb, {"kernel.version", "linux_5.13"}}),
            "kernel.remote_flush = \"invlpgb\": linux_5.13 does not know it; "
            "linux_6.15 is the first that does");
  EXPECT_EQ(ErrorOf("skylake-sp", {invlpgb}),
            "kernel.remote_flush = \"invlpgb\": machine.features has no "
            "invlpgb; zen3 and zen4 have");
  EXPECT_EQ(ErrorOf("zen4", {invlpgb, {"kernel.pcid", "false"}}),
            "kernel.remote_flush = \"invlpgb\": it names PCIDs, which "
            "kernel.pcid or machine.features leave out");
}

TEST(RemoteFlushKey, TheDefaultIsWhatVersionAndProcessorHave) {
  const auto broadcasts = [](const std::string& preset,
                             const std::string& version) {
    SimConfig config = KernelWorld::Config(preset, version, 4, 1);
    return KernelRules::From(config.kernel, config.machine, config.tlb)
        .broadcast;
  };
  EXPECT_TRUE(broadcasts("zen3", "linux_6.15"));
  EXPECT_TRUE(broadcasts("zen4", "linux_6.15"));
  EXPECT_FALSE(broadcasts("zen3", "linux_5.13"));
  EXPECT_FALSE(broadcasts("zen2", "linux_6.15"));
  EXPECT_FALSE(broadcasts("skylake-sp", "linux_6.15"));
}

}  // namespace
}  // namespace lookaside
