// SPDX-License-Identifier: Apache-2.0
//
// The kernel: address spaces and what happens when a program touches a page
// that is not there. Demand paging as Linux does it for anonymous memory
// (mm/memory.c, do_anonymous_page): the first touch of a page maps a zeroed
// frame of the toucher's memory node. With paging.thp = "always" it maps a 2M
// page where the whole aligned 2M range is still unmapped
// (do_huge_pmd_anonymous_page).
//
// There are no mappings (VMAs) yet: every page is readable, writable and
// executable for the program, and every touched page is counted as outside
// the known mappings. "madvise" maps 4K pages, since nothing advises yet.
//
// Left out: the zero page for first reads, fault-around of file pages, what
// clearing a 2M page costs beyond cost.minor_fault.
//
// A copyable value: it refers to nothing, and is given the hardware.
//
//   Kernel kernel(ThpPolicy::kNever);
//   BareMetal hardware(machine);
//   MmId mm = kernel.CreateMm(hardware, NodeId(0)).value();
//   kernel.SwitchTo(hardware, CpuId(0), mm);
//   absl::Status status = kernel.HandleFault(hardware, CpuId(0), fault);
#ifndef LOOKASIDE_KERNEL_KERNEL_H_
#define LOOKASIDE_KERNEL_KERNEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/bare_metal.h"
#include "lookaside/kernel/fault_counters.h"
#include "lookaside/kernel/mm.h"
#include "lookaside/machine/fault.h"
#include "lookaside/pagetable/walk_config.h"

namespace lookaside {

// Touches outside every mapping that the kernel was told of.
struct UnknownMappings {
  uint64_t count = 0;
  VirtAddr first;  // when count > 0
};

class Kernel {
 public:
  // `strict`: a touch outside every known mapping is an error.
  explicit Kernel(ThpPolicy thp, bool strict = false)
      : thp_(thp), strict_(strict) {}

  // An address space without pages, its root on `node`. ResourceExhausted if
  // there is no memory.
  absl::StatusOr<MmId> CreateMm(BareMetal& hardware, NodeId node);
  const Mm& mm(MmId id) const { return mms_[id.value()]; }

  // Runs `mm` on `cpu`.
  void SwitchTo(BareMetal& hardware, CpuId cpu, MmId mm);

  // Makes the access that faulted possible. An error says why it cannot be:
  // the address is not canonical or, where that is strict, outside every
  // mapping, or memory has run out.
  // REQUIRES: SwitchTo was called for `cpu`.
  absl::Status HandleFault(BareMetal& hardware, CpuId cpu, const Fault& fault);

  FaultCounters faults(CpuId cpu) const;
  const UnknownMappings& unknown_mappings() const { return unknown_; }

  // Counters are results, not state.
  void AddTo(Digest& digest) const;

 private:
  absl::Status MapAnonymous(BareMetal& hardware, CpuId cpu, const Mm& mm,
                            const Fault& fault);
  absl::Status MapPage(BareMetal& hardware, CpuId cpu, const Mm& mm,
                       const Fault& fault, PageSize size);
  absl::Status NotCanonical(BareMetal& hardware, const Fault& fault) const;

  ThpPolicy thp_;
  bool strict_;
  std::vector<Mm> mms_;            // by MmId
  std::map<CpuId, MmId> running_;  // Linux cpu_tlbstate.loaded_mm
  std::map<CpuId, FaultCounters> faults_;
  UnknownMappings unknown_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_KERNEL_H_
