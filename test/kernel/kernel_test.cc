// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/kernel.h"

#include <gtest/gtest.h>

#include <memory>

#include "lookaside/base/status.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/simulation.h"

namespace lookaside {
namespace {

class KernelTest : public testing::Test {
 protected:
  void Make(const SimConfig& config) {
    machine_ = *Machine::Create(MachineConfigOf(config, 0));
    kernel_ = std::make_unique<Kernel>(
        KernelRules::From(config.kernel, config.machine, config.tlb),
        config.paging.thp);
    hardware_ = std::make_unique<BareMetal>(*machine_);
    mm_ = *kernel_->CreateMm(*hardware_, NodeId(0));
  }

  absl::Status Fault(CpuId cpu, uint64_t address, bool write) {
    return kernel_->HandleFault(
        *hardware_, cpu,
        {VirtAddr(address),
         WalkFault::kNotPresent,
         {.write = write, .user = true, .fetch = false}});
  }

  std::optional<Translation> Lookup(uint64_t address) {
    return kernel_->mm(mm_).table.Lookup(machine_->memory().tables,
                                         PageOf(VirtAddr(address)));
  }

  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<BareMetal> hardware_;
  MmId mm_;
};

TEST_F(KernelTest, FirstTouchMapsAFrameOfTheTouchersNode) {
  const SimConfig config = *LoadPreset("skylake-sp");
  Make(config);
  const CpuId remote(config.machine.cpus() - 1);
  kernel_->SwitchTo(*hardware_, remote, mm_);
  ASSERT_TRUE(Fault(remote, 0x7000, false).ok());
  const auto mapped = Lookup(0x7000);
  ASSERT_TRUE(mapped.has_value());
  EXPECT_EQ(machine_->memory().frames.NodeOf(mapped->leaf.pte.frame()),
            NodeId(1));
  EXPECT_EQ(mapped->leaf.size, PageSize::k4K);
  EXPECT_FALSE(mapped->leaf.pte.dirty());
  EXPECT_EQ(kernel_->faults(remote).minor, 1u);
  EXPECT_EQ(kernel_->unknown_mappings().count, 1u);
  EXPECT_EQ(machine_->cpu(remote).ledger()[CostKind::kFault],
            machine_->costs().fault_entry + machine_->costs().minor_fault);
}

TEST_F(KernelTest, AWriteFaultMapsADirtyPage) {
  Make(*LoadPreset("textbook"));
  kernel_->SwitchTo(*hardware_, CpuId(0), mm_);
  ASSERT_TRUE(Fault(CpuId(0), 0x7000, true).ok());
  EXPECT_TRUE(Lookup(0x7000)->leaf.pte.dirty());
}

TEST_F(KernelTest, LargePagesAreMappedOnlyWhereTheirRangeIsEmpty) {
  SimConfig config = *LoadPreset("skylake-sp");
  Make(config);
  kernel_->SwitchTo(*hardware_, CpuId(0), mm_);
  ASSERT_TRUE(Fault(CpuId(0), 0x200000, false).ok());
  config.paging.thp = ThpPolicy::kAlways;
  Make(config);
  kernel_->SwitchTo(*hardware_, CpuId(0), mm_);
  ASSERT_TRUE(Fault(CpuId(0), 0x203000, false).ok());
  EXPECT_EQ(Lookup(0x200000)->leaf.size, PageSize::k2M);
}

TEST_F(KernelTest, MemoryThatRanOutIsAnErrorAndRecyclesNothing) {
  SimConfig config = *LoadPreset("textbook");
  config.paging.node_memory = uint64_t{1} << 30;
  config.paging.thp = ThpPolicy::kAlways;
  Make(config);
  kernel_->SwitchTo(*hardware_, CpuId(0), mm_);
  absl::Status status;
  uint64_t mapped = 0;
  for (; mapped < 1024; ++mapped) {
    status = Fault(CpuId(0), (uint64_t{1} << 40) + (mapped << 21), true);
    if (!status.ok()) break;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << Message(status);
  EXPECT_LT(mapped, 1024u);
  EXPECT_GT(mapped, 500u);
}

// It ended the replay.
TEST_F(KernelTest, WithoutAFreeBlockOf2MAFaultMaps4K) {
  SimConfig config = *LoadPreset("textbook");
  config.paging.node_memory = uint64_t{1} << 30;
  config.paging.thp = ThpPolicy::kAlways;
  Make(config);
  kernel_->SwitchTo(*hardware_, CpuId(0), mm_);
  FrameAllocator& frames = machine_->memory().frames;
  while (frames.Allocate(PageSize::k2M, NodeId(0)).ok()) {
  }
  ASSERT_TRUE(Fault(CpuId(0), 0x203000, true).ok());
  EXPECT_EQ(Lookup(0x203000)->leaf.size, PageSize::k4K);
  EXPECT_EQ(Lookup(0x204000), std::nullopt);
  EXPECT_EQ(kernel_->faults(CpuId(0)).minor, 1u);
  EXPECT_EQ(kernel_->faults(CpuId(0)).thp_fallback, 1u);
  EXPECT_EQ(machine_->cpu(CpuId(0)).ledger()[CostKind::kFault],
            machine_->costs().fault_entry + machine_->costs().minor_fault);
}

// It cost what one of 4K does.
TEST_F(KernelTest, AFirstTouchOf2MPaysForClearingAllOfIt) {
  SimConfig config = *LoadPreset("skylake-sp");
  config.paging.thp = ThpPolicy::kAlways;
  Make(config);
  kernel_->SwitchTo(*hardware_, CpuId(0), mm_);
  ASSERT_TRUE(Fault(CpuId(0), 0x203000, true).ok());
  const CostModel& costs = machine_->costs();
  EXPECT_GT(costs.page_clear, Cycles(0));
  EXPECT_EQ(machine_->cpu(CpuId(0)).ledger()[CostKind::kFault],
            costs.fault_entry + costs.minor_fault + costs.page_clear * 511);
}

TEST_F(KernelTest, AnAddressThatIsNotCanonicalIsAnError) {
  Make(*LoadPreset("textbook"));
  kernel_->SwitchTo(*hardware_, CpuId(0), mm_);
  const absl::Status status = kernel_->HandleFault(
      *hardware_, CpuId(0),
      {VirtAddr(uint64_t{1} << 50), WalkFault::kNonCanonical, {}});
  EXPECT_EQ(Message(status),
            "address 0x4000000000000 is not canonical with 4 paging levels "
            "(48 bits); paging.levels = 5 reaches 57 bits");
}

}  // namespace
}  // namespace lookaside
