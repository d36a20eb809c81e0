// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lookaside/config/config_loader.h"
#include "lookaside/cost/cost_model.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/replay/simulation.h"

namespace lookaside {
namespace {

TraceEvent Load(uint64_t page) {
  TraceEvent event;
  event.kind = EventKind::kLoad;
  event.address = VirtAddr(page << kPageShift);
  event.size = 8;
  return event;
}

// A machine with one address space per CPU used, all pages mapped by hand.
class MachineTest : public testing::Test {
 protected:
  void Make(const SimConfig& config) {
    config_ = config;
    machine_ = *Machine::Create(MachineConfigOf(config, 0));
  }

  PageTable NewTable(NodeId node) {
    return *PageTable::Create(machine_->memory(),
                              static_cast<int>(config_.paging.levels), node);
  }

  void Map(const PageTable& table, uint64_t page, NodeId node,
           PageSize size = PageSize::k4K, bool global = false) {
    const FrameNumber frame = *machine_->memory().frames.Allocate(size, node);
    const Pte leaf = Pte::Leaf(frame, size, {.writable = true, .user = true})
                         .WithGlobal(global);
    ASSERT_TRUE(
        table.Map(machine_->memory(), VirtPage(page), size, leaf, node).ok());
  }

  void Run(CpuId cpu, const PageTable& table, uint16_t pcid = 0,
           ContextLoad load = ContextLoad::kFlush) {
    machine_->LoadContext(cpu, {table.root(), Pcid(pcid), Vpid(0)}, load);
  }

  void Touch(CpuId cpu, uint64_t page) {
    const TraceEvent event = Load(page);
    const auto result =
        machine_->Access(cpu, std::span(&event, 1), Pacing::kAccesses);
    ASSERT_EQ(result.consumed, 1u);
  }

  uint64_t Walks(CpuId cpu) {
    return machine_->cpu(cpu).counters().translation.walks;
  }
  Cycles Spent(CpuId cpu, CostKind kind) {
    return machine_->cpu(cpu).ledger()[kind];
  }

  SimConfig config_;
  std::unique_ptr<Machine> machine_;
};

TEST_F(MachineTest, AWalkCostsItsBaseAndItsLoads) {
  SimConfig config = *LoadPreset("skylake-sp");
  config.psc = PscConfig();
  Make(config);
  const PageTable table = NewTable(NodeId(0));
  Map(table, 0x1000, NodeId(0));
  Run(CpuId(0), table);
  Touch(CpuId(0), 0x1000);
  // Four loads, none of whose lines is in a cache yet.
  const Cycles memory =
      CyclesFromNs(config.walk.local_memory_ns, config.machine.mhz);
  EXPECT_EQ(Spent(CpuId(0), CostKind::kWalk),
            Cycles(config.walk.base_cycles) + memory * 4);
}

TEST_F(MachineTest, AWalkOnTheOtherSocketPaysForRemoteMemory) {
  SimConfig config = *LoadPreset("skylake-sp");
  config.psc = PscConfig();
  Make(config);
  const CpuId remote(config.machine.cpus() - 1);
  const PageTable table = NewTable(NodeId(0));
  Map(table, 0x1000, NodeId(0));
  Run(remote, table);
  Touch(remote, 0x1000);
  const Cycles memory =
      CyclesFromNs(config.walk.remote_memory_ns, config.machine.mhz);
  EXPECT_EQ(Spent(remote, CostKind::kWalk),
            Cycles(config.walk.base_cycles) + memory * 4);
  EXPECT_EQ(
      machine_->cpu(remote)
          .counters()
          .translation
          .walk_loads_by_place[static_cast<size_t>(LinePlace::kRemoteMemory)],
      4u);
}

TEST_F(MachineTest, SiblingsShareTheWalkersOfTheirCore) {
  SimConfig config = *LoadPreset("haswell-ep");
  ASSERT_EQ(config.walk.walkers, 1u);
  Make(config);
  const PageTable table = NewTable(NodeId(0));
  Map(table, 0x1000, NodeId(0));
  Map(table, 0x2000, NodeId(0));
  Run(CpuId(0), table);
  Run(CpuId(1), table, 1);
  Touch(CpuId(0), 0x1000);
  const Cycles busy_until =
      machine_->cpu(CpuId(0)).clock() - machine_->costs().instruction;
  const Cycles before = machine_->cpu(CpuId(1)).clock();
  Touch(CpuId(1), 0x2000);
  EXPECT_EQ(Spent(CpuId(1), CostKind::kWalkWait), busy_until - before);
  // Another core's walker is its own.
  Run(CpuId(2), table);
  Touch(CpuId(2), 0x2000);
  EXPECT_EQ(Spent(CpuId(2), CostKind::kWalkWait), Cycles(0));
}

TEST_F(MachineTest, TheSamePcidOnSiblingsIsTwoAddressSpaces) {
  Make(*LoadPreset("skylake-sp"));
  const PageTable a = NewTable(NodeId(0));
  const PageTable b = NewTable(NodeId(0));
  Map(a, 0x1000, NodeId(0));
  Run(CpuId(0), a, 5);
  Run(CpuId(1), b, 5);
  Touch(CpuId(0), 0x1000);
  const TraceEvent event = Load(0x1000);
  const auto result =
      machine_->Access(CpuId(1), std::span(&event, 1), Pacing::kAccesses);
  ASSERT_TRUE(result.fault.has_value());
  EXPECT_EQ(result.fault->kind, WalkFault::kNotPresent);
}

TEST_F(MachineTest, GlobalTranslationsOutliveEverythingButInvlpgAndPge) {
  Make(*LoadPreset("haswell-ep"));
  const PageTable table = NewTable(NodeId(0));
  Map(table, 0x1000, NodeId(0), PageSize::k4K, /*global=*/true);
  const CpuId cpu(0);
  Run(cpu, table, 1);
  Touch(cpu, 0x1000);
  Run(cpu, table, 2);  // another PCID, flushed
  machine_->Invalidate(cpu, {InvalidationScope::kCr3, VirtPage(), Pcid()});
  machine_->Invalidate(
      cpu, {InvalidationScope::kInvpcidNonGlobal, VirtPage(), Pcid()});
  machine_->Invalidate(
      cpu, {InvalidationScope::kInvpcidAddress, VirtPage(0x1000), Pcid(2)});
  Touch(cpu, 0x1000);
  EXPECT_EQ(Walks(cpu), 1u);
  machine_->Invalidate(cpu,
                       {InvalidationScope::kInvlpg, VirtPage(0x1000), Pcid()});
  Touch(cpu, 0x1000);
  EXPECT_EQ(Walks(cpu), 2u);
  machine_->Invalidate(cpu, {InvalidationScope::kCr4Pge, VirtPage(), Pcid()});
  Touch(cpu, 0x1000);
  EXPECT_EQ(Walks(cpu), 3u);
}

TEST_F(MachineTest, InvlpgDropsEveryPieceOfAFracturedPage) {
  Make(*LoadPreset("textbook"));  // holds 2M pages in 4K pieces
  const PageTable table = NewTable(NodeId(0));
  Map(table, 0x1000, NodeId(0), PageSize::k2M);
  const CpuId cpu(0);
  Run(cpu, table);
  Touch(cpu, 0x1000);
  Touch(cpu, 0x1005);
  EXPECT_EQ(Walks(cpu), 2u);
  machine_->Invalidate(cpu,
                       {InvalidationScope::kInvlpg, VirtPage(0x1005), Pcid()});
  Touch(cpu, 0x1000);
  EXPECT_EQ(Walks(cpu), 3u);
}

TEST_F(MachineTest, APartitionedArrayIsWholeForOneActiveThread) {
  const SimConfig config = *LoadPreset("sapphirerapids");
  Make(config);
  const PageTable table = NewTable(NodeId(0));
  constexpr uint64_t kPages = 256;  // the ITLB's entries
  for (uint64_t i = 0; i < kPages; ++i) Map(table, 0x1000 + i, NodeId(0));
  const auto sweep = [&](CpuId cpu) {
    for (uint64_t i = 0; i < kPages; ++i) {
      TraceEvent event = Load(0x1000 + i);
      event.kind = EventKind::kFetch;
      machine_->Access(cpu, std::span(&event, 1), Pacing::kInstructions);
    }
  };
  const auto first_level_hits = [&] {
    const uint64_t before =
        machine_->cpu(CpuId(0)).counters().translation.l1_hits;
    sweep(CpuId(0));
    return machine_->cpu(CpuId(0)).counters().translation.l1_hits - before;
  };
  Run(CpuId(0), table, 1);
  sweep(CpuId(0));
  EXPECT_EQ(first_level_hits(), kPages);
  Run(CpuId(1), table, 2);  // the sibling becomes active
  sweep(CpuId(0));
  EXPECT_LT(first_level_hits(), kPages);
  machine_->Halt(CpuId(1));
  sweep(CpuId(0));
  EXPECT_EQ(first_level_hits(), kPages);
}

TEST_F(MachineTest, MoreThanFourPcidsLeaveNothingInSkylakesStlb) {
  Make(*LoadPreset("skylake-sp"));
  const CpuId cpu(0);
  const PageTable table = NewTable(NodeId(0));
  Map(table, 0x1000, NodeId(0));
  const auto walks_of_rounds = [&](uint16_t pcids, int rounds) {
    const uint64_t before = Walks(cpu);
    for (int round = 0; round < rounds; ++round) {
      for (uint16_t pcid = 1; pcid <= pcids; ++pcid) {
        Run(cpu, table, pcid, ContextLoad::kNoFlush);
        Touch(cpu, 0x1000);
      }
    }
    return Walks(cpu) - before;
  };
  EXPECT_EQ(walks_of_rounds(4, 10), 4u);
  walks_of_rounds(5, 1);  // the fifth takes the first one's slot
  EXPECT_EQ(walks_of_rounds(5, 10), 50u);
}

// Alex Shi's balance (Linux commit e7b52ffd45a6): with 512 entries, and both a
// refill and an INVLPG at 100 ns, invalidating X pages one by one costs what
// refilling the 512 - X others after a flush costs at X = 256.
TEST_F(MachineTest, InvlpgAndFlushBreakEvenAtHalfOfTheEntries) {
  SimConfig config = *LoadPreset("textbook");
  TlbConfig stlb = config.tlb.arrays[2];
  stlb.entries = stlb.ways = 512;
  config.tlb.arrays[2] = stlb;
  config.cost = CostConfig();
  config.cost.instruction = CostAmount{0, CostUnit::kCycles};
  config.cost.refill = CostAmount{100, CostUnit::kNanoseconds};
  config.cost.invlpg = CostAmount{100, CostUnit::kNanoseconds};
  for (TlbConfig& tlb : config.tlb.arrays) tlb.latency = 0;
  const auto cost = [&](uint64_t pages, bool one_by_one) {
    Make(config);
    const CpuId cpu(0);
    const PageTable table = NewTable(NodeId(0));
    for (uint64_t i = 0; i < 512; ++i) Map(table, i, NodeId(0));
    Run(cpu, table);
    for (uint64_t i = 0; i < 512; ++i) Touch(cpu, i);
    const Cycles before = machine_->cpu(cpu).clock();
    if (!one_by_one) {
      machine_->Invalidate(cpu, {InvalidationScope::kCr3, VirtPage(), Pcid()});
    }
    for (uint64_t i = 0; one_by_one && i < pages; ++i) {
      machine_->Invalidate(cpu,
                           {InvalidationScope::kInvlpg, VirtPage(i), Pcid()});
    }
    for (uint64_t i = pages; i < 512; ++i) Touch(cpu, i);
    return machine_->cpu(cpu).clock() - before;
  };
  EXPECT_LT(cost(255, true), cost(255, false));
  EXPECT_EQ(cost(256, true), cost(256, false));
  EXPECT_GT(cost(257, true), cost(257, false));
}

TEST_F(MachineTest, AMachineOf4096ThreadsMakesOnlyWhatIsUsed) {
  SimConfig config = *LoadPreset("skylake-sp");
  config.machine.sockets = 16;
  config.machine.cores_per_socket = 128;
  config.machine.threads_per_core = 2;
  Make(config);
  ASSERT_EQ(machine_->topology().cpus(), 4096u);
  EXPECT_TRUE(machine_->used_cpus().empty());
  const CpuId last(4095);
  const PageTable table = NewTable(NodeId(15));
  Map(table, 0x1000, NodeId(15));
  Run(last, table);
  Touch(last, 0x1000);
  EXPECT_EQ(machine_->used_cpus(), std::vector<CpuId>{last});
  EXPECT_EQ(machine_->topology().SocketOf(last), SocketId(15));
}

TEST_F(MachineTest, AnyOneChangeOfStateChangesTheDigest) {
  Make(*LoadPreset("skylake-sp"));
  const PageTable table = NewTable(NodeId(0));
  for (uint64_t i = 0; i < 8; ++i) Map(table, 0x1000 + i, NodeId(0));
  Run(CpuId(0), table);
  for (uint64_t i = 0; i < 6; ++i) Touch(CpuId(0), 0x1000 + i);
  const Machine base(*machine_);
  std::set<std::string> digests = {base.Digest().ToString()};
  const auto changed = [&](auto change) {
    Machine copy(base);
    change(copy);
    EXPECT_TRUE(digests.insert(copy.Digest().ToString()).second);
  };
  const auto touch = [](Machine& m, uint64_t page, EventKind kind) {
    TraceEvent event = Load(page);
    event.kind = kind;
    m.Access(CpuId(0), std::span(&event, 1), Pacing::kAccesses);
  };
  changed([&](Machine& m) { touch(m, 0x1001, EventKind::kLoad); });
  changed([&](Machine& m) { touch(m, 0x1001, EventKind::kStore); });
  changed([&](Machine& m) { touch(m, 0x1001, EventKind::kFetch); });
  changed([&](Machine& m) { touch(m, 0x1007, EventKind::kLoad); });
  changed([&](Machine& m) { touch(m, 0x9999, EventKind::kLoad); });
  changed([](Machine& m) { m.cpu(CpuId(0)).IdleUntil(Cycles(1u << 30)); });
  changed([](Machine& m) { m.Halt(CpuId(0)); });
  changed(
      [&](Machine& m) { table.Unmap(m.memory().tables, VirtPage(0x1007)); });
  changed([](Machine& m) {
    EXPECT_TRUE(m.memory().frames.Allocate(PageSize::k4K, NodeId(1)).ok());
  });
  for (int scope = 0; scope < 2; ++scope) {
    changed([&](Machine& m) {
      m.Invalidate(CpuId(0), {static_cast<InvalidationScope>(scope),
                              VirtPage(0x1002), Pcid(0)});
    });
  }
}

}  // namespace
}  // namespace lookaside
