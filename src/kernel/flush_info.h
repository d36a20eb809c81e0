// SPDX-License-Identifier: Apache-2.0
//
// One flush: what it is about (Linux struct flush_tlb_info), and the state of
// its remote part while acknowledgements are out (struct call_function_data).
#ifndef LOOKASIDE_KERNEL_FLUSH_INFO_H_
#define LOOKASIDE_KERNEL_FLUSH_INFO_H_

#include <cstdint>
#include <optional>

#include "lookaside/base/address.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/mm_id.h"

namespace lookaside {

// Without padding: it travels in the locals of frames.
struct FlushInfo {
  MmId mm = kNoMm;            // kNoMm: of several address spaces, so all
  bool all = false;           // end == TLB_FLUSH_ALL; then no range
  bool freed_tables = false;  // page tables go too
  uint8_t stride_order = 0;   // log2 of the pages that one INVLPG covers
  // Before 5.13: hugetlbfs, which is always flushed whole. 3.6: executable.
  // One page, asked for by flush_tlb_page.
  uint8_t vm_flags = 0;
  VirtPage start;
  VirtPage end;              // past the last
  uint64_t new_tlb_gen = 0;  // 0: none

  static constexpr uint8_t kHugetlb = 1;
  static constexpr uint8_t kExec = 2;
  static constexpr uint8_t kPage = 4;

  uint64_t pages() const { return end.value() - start.value(); }
  // INVLPGs that the range takes.
  uint64_t strides() const {
    const uint64_t stride = uint64_t{1} << stride_order;
    return (pages() + stride - 1) >> stride_order;
  }

  void AddTo(Digest& digest) const {
    digest.Add(mm);
    digest.Add(all);
    digest.Add(freed_tables);
    digest.Add(stride_order);
    digest.Add(vm_flags);
    digest.Add(start);
    digest.Add(end);
    digest.Add(new_tlb_gen);
  }
  friend bool operator==(const FlushInfo&, const FlushInfo&) = default;
};

// In a table, by the index that interrupts carry.
struct FlushPayload {
  FlushInfo info;
  CpuId initiator;
  bool early_ack = false;
  bool may_defer = false;           // FlushRequest::may_defer
  bool defer = false;               // FlushPlan::defer
  uint32_t gather = 0;              // whose pages wait, if it may be deferred
  std::optional<CpuSet> holders{};  // who may have it; nothing: anyone
  uint32_t vector = 0;              // 3.4: its slot
  CpuSet targets;                   // whom it concerns, before the filter
  CpuSet awaiting;                  // who has not acknowledged
  Cycles latest;  // when the last acknowledgement reached the initiator

  void AddTo(Digest& digest) const {
    info.AddTo(digest);
    digest.Add(initiator);
    digest.Add(early_ack);
    digest.Add(may_defer);
    digest.Add(defer);
    digest.Add(gather);
    digest.Add(holders.has_value());
    if (holders) holders->AddTo(digest);
    digest.Add(vector);
    targets.AddTo(digest);
    awaiting.AddTo(digest);
    digest.AddTime(latest);
  }
  friend bool operator==(const FlushPayload&, const FlushPayload&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FLUSH_INFO_H_
