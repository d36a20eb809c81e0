// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/interconnect.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "lookaside/machine/interrupts.h"
#include "lookaside/machine/machine.h"

namespace lookaside {
namespace {

CpuSet Cpus(std::initializer_list<uint32_t> numbers) {
  CpuSet cpus;
  for (const uint32_t cpu : numbers) cpus.Add(CpuId(cpu));
  return cpus;
}

CostConfig Costs() {
  const auto cycles = [](uint64_t n) {
    return CostAmount{n, CostUnit::kCycles};
  };
  CostConfig cost;
  cost.ipi_send = cycles(10);
  cost.ipi_latency_core = cycles(100);
  cost.ipi_latency_socket = cycles(200);
  cost.ipi_latency_remote = cycles(300);
  cost.ipi_wake = cycles(1000);
  cost.ack_core = cycles(1);
  cost.ack_socket = cycles(2);
  cost.ack_remote = cycles(3);
  return cost;
}

// Two sockets of 12 cores of 2 threads: socket 0 has threads 0 to 23.
TopologyConfig Topology24(ApicMode apic) {
  return {.sockets = 2,
          .cores_per_socket = 12,
          .threads_per_core = 2,
          .mhz = 1000,
          .numa = 1,
          .apic = apic};
}

std::vector<CpuSet> Writes(ApicMode apic, const CpuSet& targets) {
  const Interconnect interconnect(Topology(Topology24(apic)),
                                  CostModel::From(Costs(), 1000));
  std::vector<CpuSet> writes;
  interconnect.ForEachWrite(
      targets, [&](const CpuSet& reached) { writes.push_back(reached); });
  return writes;
}

TEST(InterconnectTest, FlatModeWritesOnceForEachTarget) {
  EXPECT_EQ(Writes(ApicMode::kFlat, Cpus({1, 2, 30})),
            (std::vector<CpuSet>{Cpus({1}), Cpus({2}), Cpus({30})}));
  EXPECT_TRUE(Writes(ApicMode::kFlat, CpuSet()).empty());
}

// The APIC ids of a socket are 0 to 31 of which 24 are used, so each has two
// clusters and none is shared.
TEST(InterconnectTest, ClusterModeWritesOnceForSixteenThreadsOfASocket) {
  EXPECT_EQ(Writes(ApicMode::kCluster, Cpus({0, 1, 15, 16, 23, 24, 39, 40})),
            (std::vector<CpuSet>{Cpus({0, 1, 15}), Cpus({16, 23}),
                                 Cpus({24, 39}), Cpus({40})}));
}

TEST(InterconnectTest, SmallSocketsDoNotShareAClusterEither) {
  const Topology topology({.sockets = 2,
                           .cores_per_socket = 2,
                           .threads_per_core = 2,
                           .apic = ApicMode::kCluster});
  const Interconnect interconnect(topology, CostModel());
  EXPECT_EQ(interconnect.ClusterOf(CpuId(3)), 0u);
  EXPECT_EQ(interconnect.ClusterOf(CpuId(4)), 1u);
}

TEST(InterconnectTest, LatencyGrowsWithDistance) {
  const Interconnect interconnect(Topology(Topology24(ApicMode::kFlat)),
                                  CostModel::From(Costs(), 1000));
  EXPECT_EQ(interconnect.Latency(CpuId(0), CpuId(1), false), Cycles(100));
  EXPECT_EQ(interconnect.Latency(CpuId(0), CpuId(2), false), Cycles(200));
  EXPECT_EQ(interconnect.Latency(CpuId(0), CpuId(24), false), Cycles(300));
  EXPECT_EQ(interconnect.Latency(CpuId(0), CpuId(24), true), Cycles(1300));
  EXPECT_EQ(interconnect.Acknowledgement(CpuId(0), CpuId(1)), Cycles(1));
  EXPECT_EQ(interconnect.Acknowledgement(CpuId(2), CpuId(0)), Cycles(2));
  EXPECT_EQ(interconnect.Acknowledgement(CpuId(24), CpuId(0)), Cycles(3));
}

TEST(PendingInterruptsTest, AreTakenInTheOrderOfTheirDueTimes) {
  PendingInterrupts pending;
  pending.Add({Cycles(50), CpuId(1), 7});
  pending.Add({Cycles(40), CpuId(3), 8});
  pending.Add({Cycles(50), CpuId(0), 9});
  EXPECT_EQ(pending.next().due, Cycles(40));
  EXPECT_EQ(pending.Take().payload, 8u);
  EXPECT_EQ(pending.Take().payload, 9u);  // the lower sender of equal times
  EXPECT_EQ(pending.Take().payload, 7u);
  EXPECT_TRUE(pending.empty());
}

TEST(PendingInterruptsTest, TheOrderOfSendingIsNoState) {
  PendingInterrupts a, b;
  a.Add({Cycles(1), CpuId(1), 1});
  a.Add({Cycles(1), CpuId(2), 1});
  b.Add({Cycles(1), CpuId(2), 1});
  b.Add({Cycles(1), CpuId(1), 1});
  EXPECT_EQ(a, b);
}

class SendIpiTest : public testing::Test {
 protected:
  void Make(ApicMode apic) {
    MachineConfig config;
    config.topology = Topology24(apic);
    config.tlb.arrays = {
        {.name = "tlb",
         .level = 1,
         .side = TlbSide::kUnified,
         .pages = {PageSize::k4K, PageSize::k2M, PageSize::k1G},
         .entries = 4,
         .ways = 4}};
    config.cost = Costs();
    auto machine = Machine::Create(config);
    ASSERT_TRUE(machine.ok()) << machine.status();
    machine_ = std::move(*machine);
  }
  Cycles Due(uint32_t cpu) {
    return machine_->cpu(CpuId(cpu)).interrupts().next().due;
  }

  std::unique_ptr<Machine> machine_;
};

TEST_F(SendIpiTest, EachWriteDelaysTheTargetsBehindIt) {
  Make(ApicMode::kFlat);
  machine_->Halt(CpuId(26));
  machine_->SendIpi(CpuId(0), Cpus({1, 2, 24, 26}), 5);
  EXPECT_EQ(Due(1), Cycles(10 + 100));
  EXPECT_EQ(Due(2), Cycles(20 + 200));
  EXPECT_EQ(Due(24), Cycles(30 + 300));
  EXPECT_EQ(Due(26), Cycles(40 + 300 + 1000));
  const Cpu& sender = machine_->cpu(CpuId(0));
  EXPECT_EQ(sender.clock(), Cycles(40));
  EXPECT_EQ(sender.ledger()[CostKind::kFlushSend], Cycles(40));
  EXPECT_EQ(machine_->cpu(CpuId(24)).interrupts().next(),
            (Interrupt{Cycles(330), CpuId(0), 5}));
}

TEST_F(SendIpiTest, AClusterIsReachedAtOnce) {
  Make(ApicMode::kCluster);
  machine_->SendIpi(CpuId(0), Cpus({2, 4, 15}), 5);
  EXPECT_EQ(Due(2), Due(15));
  EXPECT_EQ(machine_->cpu(CpuId(0)).clock(), Cycles(10));
}

TEST_F(SendIpiTest, PendingInterruptsArePartOfTheState) {
  Make(ApicMode::kFlat);
  machine_->cpu(CpuId(0));
  machine_->cpu(CpuId(1));
  const Fingerprint before = machine_->Digest();
  machine_->cpu(CpuId(1)).interrupts().Add({Cycles(3), CpuId(0), 0});
  EXPECT_NE(machine_->Digest(), before);
  machine_->cpu(CpuId(1)).interrupts().Take();
  EXPECT_EQ(machine_->Digest(), before);
}

}  // namespace
}  // namespace lookaside
