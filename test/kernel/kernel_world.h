// SPDX-License-Identifier: Apache-2.0
//
// A machine, a kernel on it and programs that touch memory, for tests: small
// enough that every entry of every TLB can be looked at after each operation.
#ifndef LOOKASIDE_TEST_KERNEL_KERNEL_WORLD_H_
#define LOOKASIDE_TEST_KERNEL_KERNEL_WORLD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/config/sim_config.h"
#include "lookaside/kernel/bare_metal.h"
#include "lookaside/kernel/kernel.h"
#include "lookaside/machine/machine.h"

namespace lookaside {

class KernelWorld {
 public:
  // A preset with one socket of `cores` cores of `threads` threads.
  static SimConfig Config(const std::string& preset, const std::string& version,
                          uint32_t cores, uint32_t threads);

  explicit KernelWorld(const SimConfig& config);
  KernelWorld(const KernelWorld& other);

  Machine& machine() { return *machine_; }
  Kernel& kernel() { return kernel_; }
  BareMetal& hardware() { return hardware_; }

  MmId NewMm() { return *kernel_.CreateMm(hardware_, NodeId(0)); }
  void Switch(uint32_t cpu, MmId mm);

  // Ticks that are due by the CPU's clock; Run and Touch begin with them.
  void TakeTicks(uint32_t cpu);
  void Idle(uint32_t cpu, Cycles cycles);

  // Runs the operation, and expects that the simulation can go on.
  int64_t Run(uint32_t cpu, const Operation& operation);
  int64_t Mmap(uint32_t cpu, uint64_t page, uint64_t pages,
               Protection protection = {true, true, false},
               bool shared = false);
  int64_t Munmap(uint32_t cpu, uint64_t page, uint64_t pages);
  int64_t Mprotect(uint32_t cpu, uint64_t page, uint64_t pages,
                   Protection protection);
  int64_t OnRange(uint32_t cpu, OperationKind kind, uint64_t page,
                  uint64_t pages);

  // Whether the access succeeded; faults are handled.
  bool Touch(uint32_t cpu, uint64_t page, bool write);

  std::optional<Translation> Lookup(MmId mm, uint64_t page);

  // What is wrong, or "".
  //
  // Every translation in a TLB that its CPU may use, now or after its next
  // switch without a flush, is what the page table says, or allows less; so is
  // every entry of the paging-structure caches.
  std::string FindStale();
  // Frames, uses, entries and mappings agree.
  std::string FindInconsistent();
  // What the machine's own checks have found.
  std::string FindViolation() const;
  std::string FindProblem();

 private:
  // Whether the CPU may have the page until its next tick.
  bool IsDeferred(CpuId cpu, MmId mm, VirtPage page) const;
  // Whether the CPU flushes the page before it returns to its user half.
  bool IsOwed(CpuId cpu, Pcid pcid, VirtPage page) const;
  std::string CheckTlbs(CpuId cpu);
  std::string CheckPsc(CpuId cpu);
  // The address space whose entries a PCID of the CPU holds, if they would be
  // used without a flush.
  std::optional<MmId> OwnerOf(CpuId cpu, Pcid pcid);

  std::unique_ptr<Machine> machine_;
  Kernel kernel_;
  BareMetal hardware_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_KERNEL_KERNEL_WORLD_H_
