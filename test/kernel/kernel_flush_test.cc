// SPDX-License-Identifier: Apache-2.0
//
// What each era's flush does, to whom, and what it costs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lookaside/config/config_edit.h"
#include "lookaside/test/kernel/kernel_world.h"

namespace lookaside {
namespace {

constexpr uint64_t kPage = 512;

class KernelFlushTest : public testing::Test {
 protected:
  using Sets = std::vector<std::pair<std::string, std::string>>;

  // CPU 0 and others run one program with `pages` pages, all touched by 0.
  void Make(const std::string& preset, const std::string& version,
            uint32_t cpus, uint64_t pages, const Sets& sets = {}) {
    SimConfig config = KernelWorld::Config(preset, version, 8, 1);
    for (const auto& [key, value] : sets) {
      ASSERT_TRUE(Set(config, key, value).ok()) << key;
    }
    world_ = std::make_unique<KernelWorld>(config);
    mm_ = world_->NewMm();
    for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
      world_->kernel().SwitchTo(world_->hardware(), CpuId(cpu), mm_);
    }
    world_->Mmap(0, kPage, pages);
    for (uint64_t i = 0; i < pages; ++i) world_->Touch(0, kPage + i, true);
  }

  FlushCounters Flushes(uint32_t cpu) {
    return world_->kernel().flushes(CpuId(cpu));
  }
  const CostLedger& Ledger(uint32_t cpu) {
    return world_->machine().cpu(CpuId(cpu)).ledger();
  }
  // Whether unmapping the first `pages` pages goes page by page.
  bool SinglePages(uint64_t pages) {
    const FlushCounters before = Flushes(0);
    world_->Munmap(0, kPage, pages);
    FlushCounters done = Flushes(0);
    done -= before;
    EXPECT_EQ(done.invlpg, done.full_local == 0 ? pages : 0);
    return done.full_local == 0;
  }

  std::unique_ptr<KernelWorld> world_;
  MmId mm_;
};

struct EraRow {
  const char* preset;
  const char* version;
  uint64_t pages;
  bool single;
};

class EraTest : public KernelFlushTest,
                public testing::WithParamInterface<EraRow> {};

TEST_P(EraTest, DecidesAsItsRuleSays) {
  const EraRow& row = GetParam();
  Make(row.preset, row.version, 1, 600);
  EXPECT_EQ(SinglePages(row.pages), row.single);
  EXPECT_EQ(world_->FindProblem(), "");
}

// 600 pages mapped, 512 entries and shift 6 on Nehalem, shift 5 on Sandy
// Bridge.
INSTANTIATE_TEST_SUITE_P(
    Rows, EraTest,
    testing::Values(EraRow{"nehalem-ep", "linux_3.4", 1, false},
                    EraRow{"nehalem-ep", "linux_3.6", 8, true},
                    EraRow{"nehalem-ep", "linux_3.6", 9, false},
                    EraRow{"sandybridge-ep", "linux_3.6", 16, true},
                    EraRow{"sandybridge-ep", "linux_3.6", 17, false},
                    EraRow{"nehalem-ep", "linux_3.17", 33, true},
                    EraRow{"nehalem-ep", "linux_3.17", 34, false},
                    EraRow{"skylake-sp", "linux_4.14", 33, true},
                    EraRow{"skylake-sp", "linux_4.14", 34, false},
                    EraRow{"skylake-sp", "linux_5.13", 33, true},
                    EraRow{"skylake-sp", "linux_5.13", 34, false},
                    EraRow{"skylake-sp", "linux_6.15", 33, true},
                    EraRow{"skylake-sp", "linux_6.15", 34, false}));

TEST_F(KernelFlushTest, CopyOnWriteWasAlwaysOnePage) {
  Make("nehalem-ep", "linux_3.4", 1, 4);
  world_->Run(0, {.kind = OperationKind::kFork});
  const FlushCounters before = Flushes(0);
  ASSERT_TRUE(world_->Touch(0, kPage, true));
  EXPECT_EQ(Flushes(0).invlpg, before.invlpg + 1);
  EXPECT_EQ(Flushes(0).full_local, before.full_local);
  EXPECT_EQ(world_->kernel().faults(CpuId(0)).cow, 1u);
}

TEST_F(KernelFlushTest, TargetsFlushWhatTheInitiatorSays) {
  Make("skylake-sp", "linux_6.15", 3, 8);
  world_->Munmap(0, kPage, 3);
  EXPECT_EQ(Flushes(0).ipis, 2u);
  for (const uint32_t target : {1u, 2u}) {
    EXPECT_EQ(Flushes(target).invlpg, 3u);
    EXPECT_EQ(Flushes(target).interrupts, 1u);
    EXPECT_EQ(Ledger(target)[CostKind::kInterrupt],
              world_->machine().costs().ipi_handler);
    EXPECT_EQ(Ledger(target)[CostKind::kFlushWait], Cycles(0));
  }
  EXPECT_EQ(Ledger(0)[CostKind::kInterrupt], Cycles(0));
}

// A flush that frees no table: a page of the middle.
TEST_F(KernelFlushTest, TheInitiatorWaitsForTheLastAnswerToTheCycle) {
  Make("textbook", "linux_4.14", 2, 3);
  for (const uint32_t cpu : {0u, 1u}) {
    world_->machine().cpu(CpuId(cpu)).IdleUntil(Cycles(10'000'000));
  }
  const CostModel& costs = world_->machine().costs();
  const Cycles start = world_->machine().cpu(CpuId(0)).clock();
  world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage + 1, 1);
  // syscall, mapping, entry; here first, then there: 4.14.
  const Cycles sent = start + costs.syscall + costs.vma + costs.pte +
                      costs.invlpg + costs.ipi_target + costs.ipi_send;
  const Cycles answered = sent + costs.ipi_latency_socket + costs.ipi_handler +
                          costs.invlpg + costs.ack_socket;
  EXPECT_EQ(Ledger(0)[CostKind::kFlushWait], answered - sent);
  EXPECT_EQ(Flushes(0).wait_cycles, (answered - sent).value());
  EXPECT_EQ(world_->machine().cpu(CpuId(0)).clock(),
            answered + costs.page_free);
}

TEST_F(KernelFlushTest, FromFiveThirteenBothPartsRunAtOnce) {
  Make("textbook", "linux_5.13", 2, 3);
  for (const uint32_t cpu : {0u, 1u}) {
    world_->machine().cpu(CpuId(cpu)).IdleUntil(Cycles(10'000'000));
  }
  const CostModel& costs = world_->machine().costs();
  world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage + 1, 1);
  EXPECT_EQ(Ledger(0)[CostKind::kFlushWait],
            costs.ipi_latency_socket + costs.ipi_handler + costs.invlpg +
                costs.ack_socket - costs.invlpg);
}

TEST_F(KernelFlushTest, AnEarlyAnswerSavesTheTargetsFlush) {
  Make("textbook", "linux_5.13", 2, 3, {{"kernel.flush.policy", "early_ack"}});
  for (const uint32_t cpu : {0u, 1u}) {
    world_->machine().cpu(CpuId(cpu)).IdleUntil(Cycles(10'000'000));
  }
  const CostModel& costs = world_->machine().costs();
  world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage + 1, 1);
  EXPECT_EQ(Ledger(0)[CostKind::kFlushWait],
            costs.ipi_latency_socket + costs.ipi_handler + costs.ack_socket -
                costs.invlpg);
}

TEST_F(KernelFlushTest, ATargetThatIsBehindIdlesForward) {
  Make("textbook", "linux_6.15", 2, 3);
  const Cycles idle = Ledger(1)[CostKind::kIdle];
  world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage + 1, 1);
  EXPECT_GT(Ledger(1)[CostKind::kIdle], idle);
}

TEST_F(KernelFlushTest, OldLazyCpusLeaveOnTheFirstInterrupt) {
  Make("nehalem-ep", "linux_3.17", 2, 8);
  world_->Switch(1, kNoMm);
  world_->Munmap(0, kPage, 1);
  EXPECT_EQ(Flushes(0).ipis, 1u);
  world_->Munmap(0, kPage + 1, 1);
  EXPECT_EQ(Flushes(0).ipis, 1u);
  EXPECT_FALSE(world_->kernel().mm(mm_).cpumask.Has(CpuId(1)));
  world_->Switch(1, mm_);
  EXPECT_TRUE(world_->kernel().mm(mm_).cpumask.Has(CpuId(1)));
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(KernelFlushTest, WithPcids414LeavesAtOnce) {
  Make("skylake-sp", "linux_4.14", 2, 8);
  world_->Switch(1, kNoMm);
  world_->Munmap(0, kPage, 1);
  EXPECT_EQ(Flushes(0).ipis, 0u);
}

TEST_F(KernelFlushTest, NewLazyCpusAreSparedUnlessTablesAreFreed) {
  Make("skylake-sp", "linux_5.13", 2, 8);
  world_->Switch(1, kNoMm);
  world_->Munmap(0, kPage, 1);
  EXPECT_EQ(Flushes(0).ipis, 0u);
  EXPECT_EQ(Flushes(0).ipis_avoided, 1u);
  // The CPU catches up by generation.
  const uint64_t context_cycles = Ledger(1)[CostKind::kContext].value();
  world_->Switch(1, mm_);
  EXPECT_EQ(Ledger(1)[CostKind::kContext].value() - context_cycles,
            world_->machine().costs().cr3_flush.value());
  world_->Switch(1, kNoMm);
  world_->Munmap(0, kPage + 1, 7);  // the last pages of their table
  EXPECT_EQ(Flushes(0).ipis, 1u);
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(KernelFlushTest, From613CpusThatHaveLeftAreSparedToo) {
  for (const auto& [version, ipis, avoided] :
       {std::tuple("linux_5.13", 0u, 0u), {"linux_6.15", 0u, 1u}}) {
    Make("skylake-sp", version, 2, 8);
    world_->Switch(1, world_->NewMm());
    world_->Munmap(0, kPage, 1);
    EXPECT_EQ(Flushes(0).ipis, ipis) << version;
    EXPECT_EQ(Flushes(0).ipis_avoided, avoided) << version;
  }
}

TEST_F(KernelFlushTest, AnInterruptThatFreesTablesTrimsTheCpumask) {
  Make("skylake-sp", "linux_6.15", 2, 8);
  world_->Switch(1, world_->NewMm());
  EXPECT_TRUE(world_->kernel().mm(mm_).cpumask.Has(CpuId(1)));
  world_->Munmap(0, kPage, 8);
  EXPECT_EQ(Flushes(0).ipis, 1u);
  EXPECT_FALSE(world_->kernel().mm(mm_).cpumask.Has(CpuId(1)));
}

TEST_F(KernelFlushTest, AGatherFlushesWhenItIsFull) {
  constexpr uint64_t kPages = MmuGather::kCapacity + 1;
  Make("textbook", "linux_6.15", 1, 1, {});
  world_->Mmap(0, 4096, kPages);
  for (uint64_t i = 0; i < kPages; ++i) world_->Touch(0, 4096 + i, true);
  const uint64_t before = Flushes(0).requests;
  world_->Munmap(0, 4096, kPages);
  EXPECT_EQ(Flushes(0).requests, before + 2);
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(KernelFlushTest, MprotectFlushesOnlyWhatBecomesStricterSince519) {
  for (const auto& [version, flushes] :
       {std::pair("linux_5.13", 1u), {"linux_6.15", 0u}}) {
    Make("skylake-sp", version, 1, 8);
    world_->Mprotect(0, kPage, 8, {true, false, false});
    const uint64_t before = Flushes(0).requests;
    world_->Mprotect(0, kPage, 8, {true, true, false});
    EXPECT_EQ(Flushes(0).requests - before, flushes) << version;
  }
}

TEST_F(KernelFlushTest, UserHalvesAreFlushedByInvpcidOrOnReturn) {
  Make("skylake-sp", "linux_5.13", 1, 8, {{"kernel.kpti", "true"}});
  const CostModel& costs = world_->machine().costs();
  Cycles before = Ledger(0)[CostKind::kInvalidate];
  world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage + 1, 1);
  EXPECT_EQ(Ledger(0)[CostKind::kInvalidate] - before,
            costs.invlpg + costs.invpcid);
  EXPECT_EQ(world_->FindProblem(), "");

  Make("westmere-ep", "linux_5.13", 1, 8, {{"kernel.kpti", "true"}});
  before = Ledger(0)[CostKind::kContext];
  world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage + 1, 1);
  const CostModel& older = world_->machine().costs();
  EXPECT_EQ(Ledger(0)[CostKind::kContext] - before,
            older.cr3_noflush + older.cr3_flush);  // in, and out
  EXPECT_EQ(world_->FindProblem(), "");
}

TEST_F(KernelFlushTest, ReclaimFlushesOnceForAllPagesSince43) {
  for (const auto& [version, requests] :
       {std::pair("linux_3.17", 8u), {"linux_6.15", 1u}}) {
    Make("skylake-sp", version, 2, 8);
    const uint64_t before = Flushes(0).requests;
    world_->OnRange(0, OperationKind::kReclaim, kPage, 8);
    EXPECT_EQ(Flushes(0).requests - before, requests) << version;
    EXPECT_EQ(world_->FindProblem(), "");
    ASSERT_TRUE(world_->Touch(1, kPage, false));
    EXPECT_EQ(world_->kernel().faults(CpuId(1)).major, 1u) << version;
  }
}

TEST_F(KernelFlushTest, SplitStepsEndInTheSameState) {
  Make("skylake-sp", "linux_6.15", 3, 64, {{"paging.thp", "always"}});
  KernelWorld split(*world_);
  split.kernel().set_split(true);
  for (KernelWorld* world : {world_.get(), &split}) {
    world->Mprotect(0, kPage + 3, 20, {true, false, false});
    world->Run(1, {.kind = OperationKind::kFork});
    world->Touch(0, kPage + 40, true);
    world->OnRange(2, OperationKind::kReclaim, kPage + 8, 30);
    world->Munmap(0, kPage + 10, 30);
    EXPECT_EQ(world->FindProblem(), "");
  }
  EXPECT_EQ(world_->machine().Digest(), split.machine().Digest());
  Digest whole, parts;
  world_->kernel().AddTo(whole);
  split.kernel().AddTo(parts);
  EXPECT_EQ(whole.Finish(), parts.Finish());
}

// A user's own policy: one class, two methods.
class AtMostTwo final : public FlushPolicy {
 public:
  FlushPlan Plan(const FlushRequest& request) const override {
    return {.full = request.info.all || request.info.strides() > 2};
  }
  std::unique_ptr<FlushPolicy> Clone() const override {
    return std::make_unique<AtMostTwo>(*this);
  }
};

TEST_F(KernelFlushTest, AUsersOwnPolicyDecides) {
  Make("skylake-sp", "linux_6.15", 1, 40);
  world_->kernel().SetFlushPolicy(std::make_unique<AtMostTwo>());
  EXPECT_TRUE(SinglePages(2));
  world_->Mmap(0, kPage, 2);
  EXPECT_FALSE(SinglePages(20));
}

// What the machine says when all of the pages go, and their table with them.
class TableFreeTest : public KernelFlushTest {
 protected:
  uint64_t TablesInUse(const std::string& unfixed, bool lazy) {
    Make("skylake-sp", "linux_6.15", 2, 4, {{"kernel.unfixed", unfixed}});
    world_->Touch(1, kPage, false);
    if (lazy) world_->Switch(1, kNoMm);
    world_->Munmap(0, kPage, 4);
    const auto& by_check = world_->machine().checks().by_check;
    return by_check[static_cast<size_t>(Check::kC3)];
  }
};

TEST_F(TableFreeTest, NoCpuCanWalkAFreedTable) {
  EXPECT_EQ(TablesInUse("", false), 0u);
  EXPECT_EQ(TablesInUse("", true), 0u);
}

TEST_F(TableFreeTest, WithoutD86564a2f085TablesGoBeforeTheirInvalidation) {
  EXPECT_GT(TablesInUse("d86564a2f085", false), 0u);
}

TEST_F(TableFreeTest, WithoutB956575bed91ALazyCpuWalksAFreedTable) {
  EXPECT_EQ(TablesInUse("b956575bed91", false), 0u);
  EXPECT_GT(TablesInUse("b956575bed91", true), 0u);
}

// Page-table isolation: INVPCID of each page at once, or INVLPG of all of them
// on the return to the program.
class InContextTest : public KernelFlushTest {
 protected:
  void Make(const std::string& in_context) {
    KernelFlushTest::Make(
        "skylake-sp", "linux_5.13", 1, 80,
        {{"kernel.kpti", "true"}, {"kernel.flush.in_context", in_context}});
    costs_ = world_->machine().costs();
  }
  // Of a flush of two pages in the middle.
  Cycles Invalidations() {
    const Cycles before = Ledger(0)[CostKind::kInvalidate];
    world_->OnRange(0, OperationKind::kMadviseDontNeed, kPage + 1, 2);
    EXPECT_EQ(world_->FindProblem(), "");
    return Ledger(0)[CostKind::kInvalidate] - before;
  }
  CostModel costs_;
};

TEST_F(InContextTest, AtOnceTakesAnInvpcidForEachPage) {
  Make("false");
  EXPECT_EQ(Invalidations(), (costs_.invlpg + costs_.invpcid) * 2);
}

TEST_F(InContextTest, InContextTakesAnInvlpgForEachPage) {
  Make("true");
  EXPECT_EQ(Invalidations(), costs_.invlpg * 4);
}

TEST_F(InContextTest, MoreThanTheCeilingAreFlushedWithTheLoad) {
  Make("true");
  const uint64_t before = Flushes(0).invlpg;
  // Each is below the ceiling; together they are not.
  Operation move{.kind = OperationKind::kMremap,
                 .address = VirtAddr((kPage + 20) << kPageShift),
                 .length = 20 << kPageShift,
                 .new_address = VirtAddr((kPage + 40) << kPageShift),
                 .new_length = 20 << kPageShift};
  world_->Run(0, move);  // unmaps the target, then flushes the old place
  EXPECT_EQ(Flushes(0).invlpg - before, 40u);
  EXPECT_EQ(world_->FindProblem(), "");
}

// The kernel's own pages: they take room that the program's had.
class FootprintTest : public KernelFlushTest {
 protected:
  // Of the L1 for 4K pages, when a program that just fits it returns from a
  // system call without work.
  uint64_t MissesAfterASyscall(const std::string& footprint,
                               bool kpti = false) {
    Make("skylake-sp", "linux_6.15", 1, 64,
         {{"kernel.footprint", footprint},
          {"kernel.footprint_2m", "false"},
          {"kernel.kpti", kpti ? "true" : "false"}});
    TouchAll();
    const uint64_t before = Misses();
    world_->Run(0, {.kind = OperationKind::kBrk});
    TouchAll();
    return Misses() - before;
  }
  void TouchAll() {
    for (uint64_t i = 0; i < 64; ++i) world_->Touch(0, kPage + i, false);
  }
  uint64_t Misses() {
    const auto& arrays = world_->machine().config().tlb.arrays;
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].name == "dtlb_4k") {
        return world_->machine().cpu(CpuId(0)).counters().tlb[i].misses;
      }
    }
    return 0;
  }
};

TEST_F(FootprintTest, TakesRoomInTheTlbs) {
  EXPECT_EQ(MissesAfterASyscall("0"), 0u);
  EXPECT_GE(MissesAfterASyscall("16"), 16u);
}

TEST_F(FootprintTest, SurvivesAChangeOfAddressSpaceUnlessIsolated) {
  for (const char* const kpti : {"false", "true"}) {
    Make("skylake-sp", "linux_6.15", 1, 1,
         {{"kernel.footprint", "4"}, {"kernel.kpti", kpti}});
    const MmId other = world_->NewMm();
    world_->Run(0, {.kind = OperationKind::kBrk});
    world_->Switch(0, other);
    const uint64_t before =
        world_->machine().cpu(CpuId(0)).counters().translation.walks;
    world_->Run(0, {.kind = OperationKind::kBrk});
    const uint64_t walks =
        world_->machine().cpu(CpuId(0)).counters().translation.walks - before;
    EXPECT_EQ(walks, std::string(kpti) == "true" ? 4u : 0u) << kpti;
  }
}

TEST_F(FootprintTest, IsNoAccessOfTheProgram) {
  Make("skylake-sp", "linux_6.15", 1, 1, {{"kernel.footprint", "16"}});
  const uint64_t before = world_->machine().cpu(CpuId(0)).counters().loads;
  world_->Run(0, {.kind = OperationKind::kBrk});
  EXPECT_EQ(world_->machine().cpu(CpuId(0)).counters().loads, before);
}

}  // namespace
}  // namespace lookaside
