// SPDX-License-Identifier: Apache-2.0
//
// What a machine says of translations that outlive their page-table entries.
#include "lookaside/machine/stale_entries.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "lookaside/config/config_loader.h"
#include "lookaside/machine/machine.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/tlb/invalidation.h"

namespace lookaside {
namespace {

constexpr PagePermissions kReadWrite{.writable = true, .user = true};
constexpr PagePermissions kReadOnly{.writable = false, .user = true};

TEST(StaleEntries, NarrowingIsWhatTakesAway) {
  const Pte page = Pte::Leaf(FrameNumber(7), PageSize::k4K, kReadWrite);
  const auto narrows = [](Pte old, Pte now) {
    return IsNarrowing({TreeId(1), VirtPage(0), PagingLevel::kPte, old, now});
  };
  EXPECT_TRUE(narrows(page, Pte()));
  EXPECT_TRUE(narrows(page, page.WithWritable(false)));
  EXPECT_TRUE(narrows(page, page.WithUser(false)));
  EXPECT_TRUE(narrows(page, page.WithNx(true)));
  EXPECT_TRUE(narrows(page, page.WithFrame(FrameNumber(8))));
  EXPECT_TRUE(narrows(page.WithDirty(true), page));
  EXPECT_TRUE(narrows(page, Pte(page.bits() | Pte::kCacheDisable)));
  EXPECT_FALSE(narrows(page, page));
  EXPECT_FALSE(narrows(page.WithWritable(false), page));
  EXPECT_FALSE(narrows(page.WithNx(true), page));
  EXPECT_FALSE(narrows(page, page.WithDirty(true)));
  EXPECT_FALSE(narrows(page.WithAccessed(true), page));
}

// CPUs 0 and 2 are on different cores; both may run one address space.
class StaleMachineTest : public testing::Test {
 protected:
  StaleMachineTest()
      : StaleMachineTest(MachineConfigOf(*LoadPreset("skylake-sp"), 0)) {}
  explicit StaleMachineTest(const MachineConfig& config)
      : machine_(*Machine::Create(config)), table_(NewTable()) {}

  PageTable NewTable() {
    return *PageTable::Create(machine_->memory(), 4, NodeId(0));
  }
  FrameNumber Map(uint64_t page, PageSize size = PageSize::k4K) {
    const FrameNumber frame =
        *machine_->memory().frames.Allocate(size, NodeId(0));
    EXPECT_TRUE(table_
                    .Map(machine_->memory(), VirtPage(page), size,
                         Pte::Leaf(frame, size, kReadWrite), NodeId(0))
                    .ok());
    return frame;
  }
  void Unmap(uint64_t page) {
    ASSERT_TRUE(table_.Unmap(machine_->memory().tables, VirtPage(page)));
  }
  void Protect(uint64_t page, PagePermissions permissions) {
    ASSERT_TRUE(
        table_.Protect(machine_->memory().tables, VirtPage(page), permissions));
  }
  void Run(uint32_t cpu, uint16_t pcid = 0,
           ContextLoad load = ContextLoad::kFlush) {
    Run(cpu, table_, pcid, load);
  }
  void Run(uint32_t cpu, const PageTable& table, uint16_t pcid,
           ContextLoad load) {
    machine_->LoadContext(CpuId(cpu), {table.root(), Pcid(pcid), Vpid(0)},
                          load);
  }
  // Whether the access completed without a fault.
  bool Access(uint32_t cpu, uint64_t page, EventKind kind) {
    TraceEvent event;
    event.kind = kind;
    event.address = VirtAddr(page << kPageShift);
    event.size = 8;
    return machine_->Access(CpuId(cpu), std::span(&event, 1), Pacing::kAccesses)
               .consumed == 1;
  }
  bool Load(uint32_t cpu, uint64_t page) {
    return Access(cpu, page, EventKind::kLoad);
  }
  bool Store(uint32_t cpu, uint64_t page) {
    return Access(cpu, page, EventKind::kStore);
  }
  void Invlpg(uint32_t cpu, uint64_t page) {
    machine_->Invalidate(CpuId(cpu),
                         {InvalidationScope::kInvlpg, VirtPage(page), Pcid()});
  }
  OperationId Begin(const std::string& name) {
    return machine_->BeginOperation(CpuId(0), name);
  }
  void Promise(OperationId operation, bool relaxed = false) {
    machine_->Promise(operation, relaxed);
  }
  uint64_t Count(Check check) {
    return machine_->checks().by_check[static_cast<size_t>(check)];
  }
  uint64_t Violations() { return machine_->checks().violations(); }

  static bool LoadedAlone(CpuId, Pcid, bool loaded) { return loaded; }

  std::unique_ptr<Machine> machine_;
  PageTable table_;
};

TEST_F(StaleMachineTest, AUseBeforeThePromiseIsNoViolationAndOneAfterItIs) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  const OperationId munmap = Begin("munmap");
  Unmap(16);
  EXPECT_TRUE(Load(0, 16)) << "the TLB still has it";
  EXPECT_EQ(Violations(), 0u);
  Promise(munmap);
  EXPECT_TRUE(Load(0, 16));
  EXPECT_EQ(Count(Check::kC1), 1u);
  EXPECT_EQ(Violations(), 1u);
  const CheckExample& example = machine_->checks().examples.at(0);
  EXPECT_EQ(example.operation, "munmap");
  EXPECT_EQ(example.page, VirtPage(16));
  EXPECT_EQ(example.cpu, CpuId(0));
  EXPECT_GT(example.age, Cycles());
}

TEST_F(StaleMachineTest, EveryUseCountsNotTheFirstAlone) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  const OperationId munmap = Begin("munmap");
  Unmap(16);
  Promise(munmap);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Load(0, 16));
  EXPECT_EQ(Count(Check::kC1), 5u);
}

TEST_F(StaleMachineTest, AnInvalidationEndsIt) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  const OperationId munmap = Begin("munmap");
  Unmap(16);
  Invlpg(0, 16);
  Promise(munmap);
  EXPECT_EQ(machine_->stale_changes(), 0u);
  EXPECT_FALSE(Load(0, 16));
  EXPECT_EQ(Violations(), 0u);
}

TEST_F(StaleMachineTest, AnotherCpuThatWasNotToldIsFound) {
  Map(16);
  Run(0);
  Run(2);
  ASSERT_TRUE(Load(0, 16));
  ASSERT_TRUE(Load(2, 16));
  const OperationId munmap = Begin("munmap");
  Unmap(16);
  Invlpg(0, 16);
  Promise(munmap);
  EXPECT_FALSE(Load(0, 16));
  EXPECT_EQ(Violations(), 0u);
  EXPECT_TRUE(Load(2, 16));
  EXPECT_EQ(Count(Check::kC1), 1u);
  EXPECT_EQ(machine_->checks().examples.at(0).cpu, CpuId(2));
}

TEST_F(StaleMachineTest, AStoreThroughIsALostUpdate) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Store(0, 16));
  const OperationId mprotect = Begin("mprotect");
  Protect(16, kReadOnly);
  Promise(mprotect);
  EXPECT_TRUE(Store(0, 16)) << "the entry still allows it";
  EXPECT_EQ(Count(Check::kC6), 1u);
  EXPECT_EQ(Count(Check::kC1), 0u);
}

TEST_F(StaleMachineTest, AnEntryThatIsRightAfterAllLosesItsMark) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Store(0, 16));
  const OperationId first = Begin("mprotect");
  Protect(16, kReadOnly);
  Promise(first);
  const OperationId second = Begin("mprotect");
  Protect(16, kReadWrite);
  Promise(second);
  EXPECT_EQ(machine_->stale_changes(), 1u);
  EXPECT_TRUE(Store(0, 16));
  EXPECT_EQ(Violations(), 0u);
  // The STLB has a copy with the mark on it still.
  machine_->Invalidate(CpuId(0), {InvalidationScope::kCr3, VirtPage(), Pcid()});
  Promise(Begin("other"));
  EXPECT_EQ(machine_->stale_changes(), 0u);
}

TEST_F(StaleMachineTest, AnotherFrameAtTheSamePlaceIsNotTheSame) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  const OperationId migrate = Begin("migrate");
  Unmap(16);
  Map(16);
  Promise(migrate);
  EXPECT_TRUE(Load(0, 16));
  EXPECT_EQ(Count(Check::kC1), 1u);
}

TEST_F(StaleMachineTest, ACopyOfAMarkedEntryIsMarked) {
  // Fills the set of page 16 in the first level (16 sets), not in the second.
  for (uint64_t page = 16; page < 16 + 5 * 16; page += 16) Map(page);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  const OperationId munmap = Begin("munmap");
  Unmap(16);
  Promise(munmap);
  for (uint64_t page = 32; page < 16 + 5 * 16; page += 16) {
    ASSERT_TRUE(Load(0, page));
  }
  const uint64_t second =
      machine_->cpu(CpuId(0)).counters().translation.stlb_hits;
  EXPECT_TRUE(Load(0, 16));
  EXPECT_EQ(machine_->cpu(CpuId(0)).counters().translation.stlb_hits,
            second + 1);
  EXPECT_EQ(Count(Check::kC1), 1u);
  EXPECT_TRUE(Load(0, 16)) << "now from the first level";
  EXPECT_EQ(Count(Check::kC1), 2u);
}

TEST_F(StaleMachineTest, ARelaxedPromiseExposesUntilItIsKept) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  const OperationId munmap = Begin("munmap");
  Unmap(16);
  Promise(munmap, /*relaxed=*/true);
  EXPECT_TRUE(Load(0, 16));
  EXPECT_EQ(machine_->checks().exposed, 1u);
  EXPECT_EQ(Violations(), 0u);
  Promise(munmap);
  EXPECT_TRUE(Load(0, 16));
  EXPECT_EQ(Count(Check::kC1), 1u);
}

TEST_F(StaleMachineTest, AFrameThatATlbLeadsToIsNotFree) {
  const FrameNumber frame = Map(16);
  Run(0);
  Run(2);
  ASSERT_TRUE(Load(2, 16));
  Begin("munmap");
  Unmap(16);
  machine_->CheckFrameFree(CpuId(0), frame, PageSize::k4K, LoadedAlone);
  EXPECT_EQ(Count(Check::kC2), 1u);
  Invlpg(2, 16);
  machine_->CheckFrameFree(CpuId(0), frame, PageSize::k4K, LoadedAlone);
  EXPECT_EQ(Count(Check::kC2), 1u) << "the entry is gone";
}

TEST_F(StaleMachineTest, AnEntryThatNobodyCanUseIsDormant) {
  const FrameNumber frame = Map(16);
  Run(0, 1);
  ASSERT_TRUE(Load(0, 16));
  Run(0, NewTable(), 2, ContextLoad::kFlush);
  Begin("munmap");
  Unmap(16);
  machine_->CheckFrameFree(CpuId(0), frame, PageSize::k4K, LoadedAlone);
  EXPECT_EQ(Violations(), 0u);
  // The first level keeps entries of one PCID alone.
  EXPECT_EQ(machine_->checks().dormant, 1u);
  machine_->CheckFrameFree(CpuId(0), frame, PageSize::k4K,
                           [](CpuId, Pcid, bool) { return true; });
  EXPECT_EQ(Count(Check::kC2), 1u) << "the next load of it would not flush";
}

TEST_F(StaleMachineTest, ATableThatAPagingStructureCacheLeadsToIsNotFree) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  Begin("munmap");
  Unmap(16);
  const auto unhooked =
      table_.CollectEmptyTables(machine_->memory(), VirtPage(0), VirtPage(511));
  ASSERT_EQ(unhooked.size(), 1u);
  machine_->CheckTableFree(CpuId(0), unhooked[0].frame, LoadedAlone);
  EXPECT_EQ(Count(Check::kC3), 1u);
  EXPECT_EQ(machine_->checks().examples.at(0).operation, "munmap");
  Invlpg(0, 16);
  machine_->CheckTableFree(CpuId(0), unhooked[0].frame, LoadedAlone);
  EXPECT_EQ(Count(Check::kC3), 1u);
}

TEST_F(StaleMachineTest, WhatIsWalkedThroughAStaleTableIsBornStale) {
  Map(16);
  Map(17);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  // Another table takes the place of that one; the old one stays as it is.
  const OperationId collapse = Begin("collapse");
  TableMemory& tables = machine_->memory().tables;
  const FrameNumber pdpt = tables.Read(EntryAddress(table_.root(), 0)).frame();
  const FrameNumber pd = tables.Read(EntryAddress(pdpt, 0)).frame();
  const FrameNumber huge =
      *machine_->memory().frames.Allocate(PageSize::k2M, NodeId(0));
  tables.Write(EntryAddress(pd, 0), Pte::Leaf(huge, PageSize::k2M, kReadWrite));
  Promise(collapse);
  EXPECT_TRUE(Load(0, 17)) << "walked from the cached PDE";
  EXPECT_EQ(Count(Check::kC1), 1u);
  EXPECT_TRUE(Load(0, 17));
  EXPECT_EQ(Count(Check::kC1), 2u);
}

TEST_F(StaleMachineTest, APcidOfAnotherTreeIsNotLoadedWithoutAFlush) {
  Map(16);
  const PageTable other = NewTable();
  Run(0, 1);
  ASSERT_TRUE(Load(0, 16));
  Run(0, 2);
  Run(0, table_, 1, ContextLoad::kNoFlush);
  EXPECT_EQ(Violations(), 0u) << "the same tree again";
  Run(0, other, 1, ContextLoad::kNoFlush);
  EXPECT_EQ(Count(Check::kC4), 1u);
  Run(0, table_, 1, ContextLoad::kFlush);
  EXPECT_EQ(Count(Check::kC4), 1u);
}

TEST_F(StaleMachineTest, APcidThatMissedAFlushIsNotLoadedWithoutOne) {
  Map(16);
  Run(0, 1);
  ASSERT_TRUE(Load(0, 16));
  Run(0, NewTable(), 2, ContextLoad::kFlush);
  const OperationId munmap = Begin("munmap");
  Unmap(16);
  Promise(munmap);
  EXPECT_EQ(Violations(), 0u);
  Run(0, 1, ContextLoad::kNoFlush);
  EXPECT_EQ(Count(Check::kC4), 1u);
}

TEST_F(StaleMachineTest, LargePagesAndTheirPiecesAreMarkedAsOne) {
  Map(512, PageSize::k2M);
  Run(0);
  ASSERT_TRUE(Load(0, 512 + 77));
  const OperationId munmap = Begin("munmap");
  Unmap(512);
  Promise(munmap);
  EXPECT_TRUE(Load(0, 512 + 3));
  EXPECT_EQ(Count(Check::kC1), 1u);
}

TEST_F(StaleMachineTest, SettingAccessedAndDirtyMarksNothing) {
  Map(16);
  Run(0);
  Run(2);
  ASSERT_TRUE(Load(0, 16));
  ASSERT_TRUE(Store(2, 16));
  EXPECT_EQ(machine_->stale_changes(), 0u);
  EXPECT_TRUE(Load(0, 16));
  EXPECT_EQ(Violations(), 0u);
}

TEST_F(StaleMachineTest, AClonedMachineJudgesAsItsOriginal) {
  Map(16);
  Run(0);
  ASSERT_TRUE(Load(0, 16));
  const OperationId munmap = Begin("munmap");
  Unmap(16);
  const std::unique_ptr<Machine> original = std::move(machine_);
  machine_ = std::make_unique<Machine>(*original);
  Promise(munmap);
  EXPECT_TRUE(Load(0, 16));
  EXPECT_EQ(Count(Check::kC1), 1u);
  EXPECT_EQ(original->checks().violations(), 0u);
}

// Mapped by 4K entries after a split, freed as the 2M page that it is.
TEST_F(StaleMachineTest, AFrameInsideALargePageIsMissedByNoFree) {
  const FrameNumber large =
      *machine_->memory().frames.Allocate(PageSize::k2M, NodeId(0));
  const FrameNumber part(large.value() + 5);
  ASSERT_TRUE(table_
                  .Map(machine_->memory(), VirtPage(5), PageSize::k4K,
                       Pte::Leaf(part, PageSize::k4K, kReadWrite), NodeId(0))
                  .ok());
  Run(0);
  ASSERT_TRUE(Load(0, 5));
  Begin("munmap");
  Unmap(5);
  machine_->CheckFrameFree(CpuId(0), large, PageSize::k2M, LoadedAlone);
  EXPECT_EQ(Count(Check::kC2), 1u);
}

}  // namespace

// A machine whose sides share no array, so that the data side walks anew for
// what the instruction side holds.
MachineConfig WithoutSecondLevel() {
  MachineConfig config = MachineConfigOf(*LoadPreset("skylake-sp"), 0);
  std::erase_if(config.tlb.arrays,
                [](const TlbConfig& array) { return array.level == 2; });
  return config;
}

// A 2M page of which the instruction side has an entry is split into 4K pages.
class SplitPageTest : public StaleMachineTest {
 protected:
  SplitPageTest()
      : StaleMachineTest(WithoutSecondLevel()),
        frame_(Map(512, PageSize::k2M)) {
    Run(0);
    EXPECT_TRUE(Access(0, 512 + 9, EventKind::kFetch));
  }
  // As pieces of the same frames but for the page `moved`.
  void Split(uint64_t moved) {
    Unmap(512);
    for (uint64_t i = 0; i < 512; ++i) {
      const FrameNumber frame =
          i + 512 == moved
              ? *machine_->memory().frames.Allocate(PageSize::k4K, NodeId(0))
              : FrameNumber(frame_.value() + i);
      ASSERT_TRUE(table_
                      .Map(machine_->memory(), VirtPage(512 + i), PageSize::k4K,
                           Pte::Leaf(frame, PageSize::k4K, kReadWrite),
                           NodeId(0))
                      .ok());
    }
  }

  FrameNumber frame_;
};

TEST_F(SplitPageTest, TwoSizesThatDisagreeAreAViolationOnceThatIsPromised) {
  const OperationId split = Begin("split");
  Split(512 + 9);
  Promise(split);
  EXPECT_TRUE(Load(0, 512 + 9));
  EXPECT_EQ(Count(Check::kC11), 1u);
  EXPECT_EQ(Violations(), 1u);
  EXPECT_EQ(machine_->checks().examples.at(0).page, VirtPage(512 + 9));
  EXPECT_EQ(machine_->checks().examples.at(0).operation, "split");
}

TEST_F(SplitPageTest, BeforeThePromiseTheyMayDisagree) {
  Begin("split");
  Split(512 + 9);
  EXPECT_TRUE(Load(0, 512 + 9));
  EXPECT_EQ(Violations(), 0u);
}

TEST_F(SplitPageTest, APieceThatLeadsWhereItDidDisagreesWithNothing) {
  const OperationId split = Begin("split");
  Split(512 + 9);
  Promise(split);
  EXPECT_TRUE(Load(0, 512 + 10));
  EXPECT_EQ(Violations(), 0u);
}

TEST_F(SplitPageTest, AFlushEndsIt) {
  const OperationId split = Begin("split");
  Split(512 + 9);
  Invlpg(0, 512 + 100);
  Promise(split);
  EXPECT_TRUE(Load(0, 512 + 9));
  EXPECT_EQ(Violations(), 0u);
}

TEST_F(SplitPageTest, AnotherContextsEntryIsNoPartner) {
  const OperationId split = Begin("split");
  Split(512 + 9);
  Promise(split);
  Run(0, 3, ContextLoad::kFlush);
  EXPECT_TRUE(Load(0, 512 + 9));
  EXPECT_EQ(Count(Check::kC11), 0u);
}

TEST_F(SplitPageTest, WhereCopiesMayLiveOnItIsExposed) {
  const OperationId split = Begin("split");
  Split(512 + 9);
  Promise(split, /*relaxed=*/true);
  EXPECT_TRUE(Load(0, 512 + 9));
  EXPECT_EQ(Violations(), 0u);
  EXPECT_EQ(machine_->checks().exposed, 1u);
}

// The other way: 4K entries are left when a 2M page takes their place.
TEST_F(StaleMachineTest, APageThatGrewOverEntriesOfItsPieces) {
  for (uint64_t i = 0; i < 512; ++i) Map(512 + i);
  Run(0);
  ASSERT_TRUE(Load(0, 512 + 5));
  ASSERT_TRUE(Load(0, 512 + 6));
  const OperationId collapse = Begin("collapse");
  for (uint64_t i = 0; i < 512; ++i) Unmap(512 + i);
  ASSERT_EQ(
      table_
          .CollectEmptyTables(machine_->memory(), VirtPage(512), VirtPage(1023))
          .size(),
      1u);
  Invlpg(0, 512 + 7);  // of the paging-structure caches alone
  Map(512, PageSize::k2M);
  Promise(collapse);
  EXPECT_TRUE(Load(0, 512 + 7));
  EXPECT_GE(Count(Check::kC11), 2u) << "one for each entry that is left";
  EXPECT_EQ(Violations(), Count(Check::kC11));
}

}  // namespace lookaside
