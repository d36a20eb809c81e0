// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/kernel.h"

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {

absl::StatusOr<MmId> Kernel::CreateMm(BareMetal& hardware, NodeId node) {
  LOOKASIDE_ASSIGN_OR_RETURN(
      const PageTable table,
      PageTable::Create(hardware.memory(), hardware.paging_levels(), node));
  mms_.push_back({table, Pcid(0)});
  return MmId(static_cast<uint32_t>(mms_.size() - 1));
}

void Kernel::SwitchTo(BareMetal& hardware, CpuId cpu, MmId id) {
  const Mm& next = mm(id);
  running_.insert_or_assign(cpu, id);
  hardware.LoadContext(cpu, {next.table.root(), next.pcid, Vpid(0)},
                       ContextLoad::kFlush);
}

absl::Status Kernel::HandleFault(BareMetal& hardware, CpuId cpu,
                                 const Fault& fault) {
  const auto running = running_.find(cpu);
  LOOKASIDE_CHECK(running != running_.end());
  hardware.Charge(cpu, CostKind::kFault, hardware.costs().fault_entry);
  if (fault.kind == WalkFault::kNonCanonical) {
    return NotCanonical(hardware, fault);
  }
  const Mm& mm = mms_[running->second.value()];
  if (fault.kind == WalkFault::kProtection) {
    // No mapping of this kernel denies a program anything.
    ++faults_[cpu].denied;
    return InvalidArgument("the access to {:#x} was denied",
                           fault.address.value());
  }
  return MapAnonymous(hardware, cpu, mm, fault);
}

absl::Status Kernel::NotCanonical(BareMetal& hardware,
                                  const Fault& fault) const {
  const int levels = hardware.paging_levels();
  return InvalidArgument(
      "address {:#x} is not canonical with {} paging levels ({} bits){}",
      fault.address.value(), levels, 12 + 9 * levels,
      levels == 4 ? "; paging.levels = 5 reaches 57 bits" : "");
}

absl::Status Kernel::MapAnonymous(BareMetal& hardware, CpuId cpu, const Mm& mm,
                                  const Fault& fault) {
  if (strict_) {
    return InvalidArgument(
        "page {:#x} is outside every mapping that the trace tells of, which "
        "replay.strict = true makes an error",
        fault.address.value());
  }
  if (unknown_.count++ == 0) unknown_.first = fault.address;
  absl::Status mapped = absl::AlreadyExistsError("");
  if (thp_ == ThpPolicy::kAlways) {
    mapped = MapPage(hardware, cpu, mm, fault, PageSize::k2M);
  }
  // Part of the 2M range may be mapped in 4K pages already.
  if (absl::IsAlreadyExists(mapped)) {
    mapped = MapPage(hardware, cpu, mm, fault, PageSize::k4K);
  }
  LOOKASIDE_RETURN_IF_ERROR(mapped);
  ++faults_[cpu].minor;
  hardware.Charge(cpu, CostKind::kFault, hardware.costs().minor_fault);
  return absl::OkStatus();
}

absl::Status Kernel::MapPage(BareMetal& hardware, CpuId cpu, const Mm& mm,
                             const Fault& fault, PageSize size) {
  PhysicalMemory& memory = hardware.memory();
  const NodeId node = hardware.NodeOf(cpu);
  LOOKASIDE_ASSIGN_OR_RETURN(const FrameNumber frame,
                             memory.frames.Allocate(size, node));
  // Linux marks the page of a write fault dirty at once.
  const Pte leaf =
      Pte::Leaf(frame, size, {.writable = true, .user = true, .nx = false})
          .WithAccessed(true)
          .WithDirty(fault.access.write);
  const absl::Status mapped = mm.table.Map(
      memory, AlignDown(PageOf(fault.address), size), size, leaf, node);
  if (!mapped.ok()) memory.frames.Free(frame, size);
  return mapped;
}

FaultCounters Kernel::faults(CpuId cpu) const {
  const auto found = faults_.find(cpu);
  return found == faults_.end() ? FaultCounters() : found->second;
}

void Kernel::AddTo(Digest& digest) const {
  digest.Add(mms_.size());
  for (const Mm& mm : mms_) {
    digest.Add(mm.table.root());
    digest.Add(mm.pcid);
  }
  for (const auto& [cpu, mm] : running_) {
    digest.Add(cpu);
    digest.Add(mm);
  }
}

}  // namespace lookaside
