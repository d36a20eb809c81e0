// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/kernel_state.h"

namespace lookaside {
namespace {

template <typename T>
T& At(std::vector<T>& values, CpuId cpu) {
  if (cpu.value() >= values.size()) values.resize(cpu.value() + 1);
  return values[cpu.value()];
}

}  // namespace

void SharedObject::AddTo(Digest& digest) const {
  digest.Add(references);
  digest.Add(pages.size());
  for (const auto& [offset, frame] : pages) {
    digest.Add(offset);
    digest.Add(frame);
  }
}

TlbState& KernelState::tlb(CpuId cpu) { return At(tlb_states, cpu); }

FlushCounters& KernelState::flushes(CpuId cpu) {
  return At(flush_counters, cpu);
}

FaultCounters& KernelState::faults(CpuId cpu) {
  return At(fault_counters, cpu);
}

void KernelState::AddTo(Digest& digest) const {
  mms.AddTo(digest);
  global_asids.AddTo(digest);
  digest.Add(next_ctx_id);
  digest.Add(init_table.has_value());
  for (uint32_t cpu = 0; cpu < tlb_states.size(); ++cpu) {
    if (tlb_states[cpu] == TlbState()) continue;  // as if never used
    digest.Add(cpu);
    tlb_states[cpu].AddTo(digest);
  }
  frames.AddTo(digest);
  payloads.AddTo(digest);
  gathers.AddTo(digest);
  digest.Add(deferred.size());
  for (const DeferredFlush& flush : deferred) flush.AddTo(digest);
  for (const FifoLock& lock : flush_vectors) lock.AddTo(digest);
  objects.AddTo(digest);
  digest.Add(swapped.size());
  for (const auto& [slot, entries] : swapped) {
    digest.Add(slot);
    digest.Add(entries);
  }
  digest.Add(lazily_freed.size());
  for (const FrameNumber frame : lazily_freed) digest.Add(frame);
}

}  // namespace lookaside
