// SPDX-License-Identifier: Apache-2.0
//
// kernel.flush.policy = abis: who is spared, and who must not be.
#include "lookaside/kernel/entry_holder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lookaside/config/config_edit.h"
#include "lookaside/test/kernel/kernel_world.h"

namespace lookaside {
namespace {

constexpr uint64_t kPage = 512;

TEST(EntryHolder, IsInBitsThatHardwareIgnores) {
  const Pte leaf = Pte::Leaf(FrameNumber(7), PageSize::k4K, {true, true, true});
  const Pte held = WithHolder(leaf, CpuId(126));
  EXPECT_EQ(WithoutHolder(held), leaf);
  EXPECT_EQ(held.frame(), leaf.frame());
  EXPECT_EQ(held.permissions(), leaf.permissions());
  EXPECT_EQ(WithHolder(leaf, CpuId(127)), leaf);
}

class EntryHolderTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    SimConfig config = KernelWorld::Config("skylake-sp", GetParam(), 4, 1);
    ASSERT_TRUE(Set(config, "kernel.flush.policy", "abis").ok());
    world_ = std::make_unique<KernelWorld>(config);
    mm_ = world_->NewMm();
    for (uint32_t cpu = 0; cpu < 3; ++cpu) {
      world_->kernel().SwitchTo(world_->hardware(), CpuId(cpu), mm_);
    }
    world_->Mmap(0, kPage, 64);
    world_->Touch(0, kPage + 60, true);  // its table stays
  }
  // Interrupts that giving up the page takes.
  uint64_t IpisOf(uint64_t page) {
    const uint64_t before = world_->kernel().flushes(CpuId(0)).ipis;
    world_->OnRange(0, OperationKind::kMadviseDontNeed, page, 1);
    EXPECT_EQ(world_->FindProblem(), "");
    return world_->kernel().flushes(CpuId(0)).ipis - before;
  }
  bool Accessed(uint64_t page) {
    return world_->Lookup(mm_, page)->leaf.pte.accessed();
  }

  std::unique_ptr<KernelWorld> world_;
  MmId mm_;
};

TEST_P(EntryHolderTest, APageThatOneCpuTouchedIsItsAlone) {
  world_->Touch(0, kPage, true);
  EXPECT_FALSE(Accessed(kPage));
  world_->Touch(0, kPage, false);
  EXPECT_FALSE(Accessed(kPage));
  EXPECT_EQ(IpisOf(kPage), 0u);
  EXPECT_EQ(world_->kernel().flushes(CpuId(0)).ipis_avoided, 2u);
}

TEST_P(EntryHolderTest, AnotherCpusPageIsToldToThatCpu) {
  world_->Touch(1, kPage, true);
  EXPECT_EQ(IpisOf(kPage), 1u);
  EXPECT_TRUE(world_->Touch(1, kPage, false));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_P(EntryHolderTest, APageThatTwoTouchedIsToldToAll) {
  world_->Touch(0, kPage, true);
  world_->Touch(2, kPage, false);
  EXPECT_TRUE(Accessed(kPage));
  EXPECT_EQ(IpisOf(kPage), 2u);
}

// Only a walk says that a copy may have been made, whoever walked.
TEST_P(EntryHolderTest, APageThatWasWalkedToAgainIsToldToAll) {
  world_->Touch(0, kPage, true);
  world_->hardware().Invalidate(
      CpuId(0), {InvalidationScope::kInvlpg, VirtPage(kPage), Pcid(0)});
  world_->Touch(0, kPage, false);
  EXPECT_TRUE(Accessed(kPage));
  EXPECT_EQ(IpisOf(kPage), 2u);
}

TEST_P(EntryHolderTest, AFlushOfBothKindsGoesToAll) {
  world_->Touch(0, kPage, true);
  world_->Touch(1, kPage + 1, true);
  world_->Touch(2, kPage + 1, true);
  const uint64_t before = world_->kernel().flushes(CpuId(0)).ipis;
  world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage, 2);
  EXPECT_EQ(world_->kernel().flushes(CpuId(0)).ipis - before, 2u);
}

// MADV_FREE clears accessed of a page that others have: that says nothing.
TEST_P(EntryHolderTest, AccessedThatSoftwareClearedIsNoProof) {
  world_->Touch(0, kPage, true);
  world_->Touch(1, kPage, true);
  world_->OnRange(0, OperationKind::kMadviseFree, kPage, 1);
  EXPECT_FALSE(Accessed(kPage));
  EXPECT_EQ(IpisOf(kPage), 2u);
}

// The CPU that has it alone runs another program meanwhile.
TEST_P(EntryHolderTest, AHolderThatHasLeftDoesNotComeBackToIt) {
  world_->Touch(1, kPage, true);
  world_->Switch(1, world_->NewMm());
  IpisOf(kPage);
  world_->Switch(1, mm_);
  EXPECT_EQ(world_->FindProblem(), "");
  EXPECT_TRUE(world_->Touch(1, kPage, false));
  EXPECT_EQ(world_->FindProblem(), "");
}

// The task that faulted goes on elsewhere before its access is retried; the
// next program on the CPU has the same page.
TEST_P(EntryHolderTest, AnInsertionThatNobodyMadeUseOfIsForgotten) {
  Machine& machine = world_->machine();
  const TraceEvent event{.address = VirtAddr(kPage << kPageShift),
                         .size = 8,
                         .kind = EventKind::kStore};
  const auto done = machine.Access(CpuId(1), {&event, 1}, Pacing::kAccesses);
  ASSERT_TRUE(done.fault);
  ASSERT_TRUE(world_->kernel()
                  .HandleFault(world_->hardware(), CpuId(1), *done.fault)
                  .ok());
  machine.cpu(CpuId(1)).set_translations_done(0);
  EXPECT_TRUE(world_->Touch(2, kPage, true));
  EXPECT_TRUE(Accessed(kPage));
  EXPECT_TRUE(world_->Touch(1, kPage, true));
  EXPECT_TRUE(Accessed(kPage));
  EXPECT_EQ(IpisOf(kPage), 2u);
}

INSTANTIATE_TEST_SUITE_P(Versions, EntryHolderTest,
                         testing::Values("linux_3.4", "linux_3.17",
                                         "linux_4.14", "linux_5.13",
                                         "linux_6.15"));

}  // namespace
}  // namespace lookaside
