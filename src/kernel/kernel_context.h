// SPDX-License-Identifier: Apache-2.0
//
// What a step of the kernel works on: the kernel's state, the hardware, and
// the CPU that runs it. Also the names of the shared cells that steps access,
// and what they wait for.
#ifndef LOOKASIDE_KERNEL_KERNEL_CONTEXT_H_
#define LOOKASIDE_KERNEL_KERNEL_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/cost/cost_ledger.h"
#include "lookaside/kernel/bare_metal.h"
#include "lookaside/kernel/fifo_lock.h"
#include "lookaside/kernel/kernel_state.h"
#include "lookaside/kernel/program_ids.h"
#include "lookaside/machine/step.h"

namespace lookaside {

// Shared cells: what CPUs see of one another.
inline constexpr std::string_view kCellPte = "pte";
inline constexpr std::string_view kCellTable = "table entry";
inline constexpr std::string_view kCellVmas = "mm.vmas";
inline constexpr std::string_view kCellMmapLock = "mm.mmap_lock";
inline constexpr std::string_view kCellPageTableLock = "mm.page_table_lock";
inline constexpr std::string_view kCellTlbGen = "mm.tlb_gen";
inline constexpr std::string_view kCellCpumask = "mm.cpumask";
inline constexpr std::string_view kCellFlushPending = "mm.tlb_flush_pending";
inline constexpr std::string_view kCellFlushBatched = "mm.tlb_flush_batched";
inline constexpr std::string_view kCellUsers = "mm.users";
inline constexpr std::string_view kCellLoadedMm = "cpu.loaded_mm";
inline constexpr std::string_view kCellIsLazy = "cpu.is_lazy";
inline constexpr std::string_view kCellVector = "flush_vector";
inline constexpr std::string_view kCellCall = "call_function_data";
inline constexpr std::string_view kCellDeferred = "deferred flush";
inline constexpr std::string_view kCellAck = "acknowledgement";
inline constexpr std::string_view kCellFrame = "frame references";

// StepWait::what.
enum class KernelWait : uint16_t {
  kAcknowledgements,  // object: the payload
  kMmapLock,          // object: the address space, here and below
  kPageTableLock,
  kFlushVector,  // object: the vector
};

struct KernelContext {
  KernelState& kernel;
  BareMetal& hardware;
  CpuId cpu;
  bool split = false;     // range steps do one entry
  uint64_t returned = 0;  // by the program called last
  std::optional<StepFrame> callee{};
  absl::Status error{};

  const KernelRules& rules() const { return kernel.rules; }
  TlbState& tlb() { return kernel.tlb(cpu); }
  FlushCounters& flushes() { return kernel.flushes(cpu); }
  FaultCounters& faults() { return kernel.faults(cpu); }
  const CostModel& costs() const { return hardware.costs(); }
  TableMemory& tables() { return hardware.memory().tables; }

  void Charge(CostKind kind, Cycles cycles) {
    hardware.Charge(cpu, kind, cycles);
  }
  void Work(Cycles cycles) { Charge(CostKind::kSyscall, cycles); }

  template <typename Locals>
  StepResult Call(KernelProgram program, const Locals& locals) {
    callee = StepFrame(IdOf(program), locals);
    return StepResult::Call();
  }
  StepResult Fail(const absl::Status& status) {
    error = status;
    return StepResult::Fail();
  }

  StepResult Lock(FifoLock& lock, bool write, KernelWait what, uint32_t object,
                  bool interrupts_open = true) {
    if (lock.Acquire(cpu, write)) return StepResult::Next();
    return StepResult::Wait({.what = static_cast<uint16_t>(what),
                             .object = object,
                             .interrupts_open = interrupts_open});
  }
  StepResult LockMmap(MmId mm, bool write) {
    return Lock(kernel.mm(mm).mmap_lock, write, KernelWait::kMmapLock,
                mm.value());
  }
  StepResult LockPageTable(MmId mm) {
    return Lock(kernel.mm(mm).page_table_lock, true, KernelWait::kPageTableLock,
                mm.value());
  }
  StepResult UnlockMmap(MmId mm) {
    kernel.mm(mm).mmap_lock.Release(cpu);
    return StepResult::Next();
  }
  StepResult UnlockPageTable(MmId mm) {
    kernel.mm(mm).page_table_lock.Release(cpu);
    return StepResult::Next();
  }
};

using KernelStep = Step<KernelContext>;
using KernelSteps = Program<KernelContext>;

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_KERNEL_CONTEXT_H_
