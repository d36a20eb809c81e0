// SPDX-License-Identifier: Apache-2.0
//
// Everything a kernel knows. Its programs are the only ones to change it; it
// has no behaviour of its own beyond finding things by number.
//
// A value: a copy shares nothing; AddTo adds all that future results depend
// on, and no counters.
#ifndef LOOKASIDE_KERNEL_KERNEL_STATE_H_
#define LOOKASIDE_KERNEL_KERNEL_STATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/deferred_flush.h"
#include "lookaside/kernel/fault_counters.h"
#include "lookaside/kernel/fifo_lock.h"
#include "lookaside/kernel/flush_counters.h"
#include "lookaside/kernel/flush_info.h"
#include "lookaside/kernel/flush_policy.h"
#include "lookaside/kernel/frame_table.h"
#include "lookaside/kernel/global_asids.h"
#include "lookaside/kernel/kernel_rules.h"
#include "lookaside/kernel/mm.h"
#include "lookaside/kernel/mmu_gather.h"
#include "lookaside/kernel/slot_table.h"
#include "lookaside/kernel/tlb_state.h"
#include "lookaside/kernel/vma.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/pagetable/walk_config.h"

namespace lookaside {

// Touches outside every mapping that the kernel was told of.
struct UnknownMappings {
  uint64_t count = 0;
  VirtAddr first;  // when count > 0
};

// The memory behind MAP_SHARED mappings (Linux shmem): pages by offset.
struct SharedObject {
  uint64_t references = 0;  // mappings of it
  std::map<uint64_t, FrameNumber> pages;

  void AddTo(Digest& digest) const;
  friend bool operator==(const SharedObject&, const SharedObject&) = default;
};

struct KernelState {
  KernelState(const KernelRules& kernel_rules, ThpPolicy thp_policy,
              bool strict_mappings)
      : rules(kernel_rules),
        thp(thp_policy),
        strict(strict_mappings),
        policy(MakeFlushPolicy(kernel_rules)),
        global_asids(kernel_rules.global_asids),
        flush_vectors(kernel_rules.flush_vectors) {}

  Mm& mm(MmId id) { return mms[id.value()]; }
  const Mm& mm(MmId id) const { return mms[id.value()]; }
  // Made on first use, like what counts below.
  TlbState& tlb(CpuId cpu);
  FlushCounters& flushes(CpuId cpu);
  FaultCounters& faults(CpuId cpu);

  void AddTo(Digest& digest) const;

  KernelRules rules;
  ThpPolicy thp;
  bool strict;  // a touch outside every known mapping is an error
  FlushPolicyHolder policy;
  // Whether the CPU will use the page again, for hindsight; may be empty. It is
  // no state: whoever knows sets it, in each copy.
  std::function<bool(CpuId, VirtPage, PageSize)> used_again{};

  SlotTable<Mm> mms;
  GlobalAsids global_asids;
  uint64_t next_ctx_id = 2;             // 1 is the kernel's own
  std::optional<PageTable> init_table;  // swapper_pg_dir, once needed
  std::vector<TlbState> tlb_states;     // by CPU
  FrameTable frames;
  SlotTable<FlushPayload> payloads;
  SlotTable<MmuGather> gathers;
  std::vector<DeferredFlush> deferred;  // in the order of their ids
  uint64_t last_deferred = 0;           // id
  std::vector<FifoLock> flush_vectors;
  SlotTable<SharedObject> objects;       // by id - 1
  std::map<uint64_t, uint32_t> swapped;  // entries for each swap slot
  std::set<FrameNumber> lazily_freed;    // by MADV_FREE

  // Results.
  std::vector<FlushCounters> flush_counters;  // by CPU
  std::vector<FaultCounters> fault_counters;  // by CPU
  uint64_t tables_freed = 0;
  UnknownMappings unknown;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_KERNEL_STATE_H_
