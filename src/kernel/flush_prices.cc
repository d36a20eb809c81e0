// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/flush_prices.h"

#include <cstdint>

#include "lookaside/base/address.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/local_tlb.h"
#include "lookaside/kernel/tlb_state.h"
#include "lookaside/machine/cached_page.h"

namespace lookaside {
namespace {

bool Overlaps(const FlushInfo& info, const CachedPage& held) {
  const VirtPage end(held.page.value() + PagesIn(held.size));
  return held.page < info.end && info.start < end;
}

// How many entries outside the range `cpu` will look for again.
uint64_t WillMiss(KernelContext& k, CpuId cpu, const FlushInfo& info) {
  const uint16_t asid = k.kernel.tlb(cpu).loaded_asid;
  uint64_t count = 0;
  const Pcid pcids[] = {KernelPcid(k.rules(), asid), UserPcid(k.rules(), asid)};
  for (const CachedPage& held : k.hardware.CachedPages(cpu, pcids)) {
    if (Overlaps(info, held)) continue;
    const auto& used_again = k.kernel.used_again;
    if (!used_again || used_again(cpu, held.page, held.size)) ++count;
  }
  return count;
}

}  // namespace

FlushPrices PricesOf(KernelContext& k, const FlushInfo& info) {
  CpuSet cpus = k.kernel.mm(info.mm).cpumask;
  cpus.Add(k.cpu);
  const Cycles by_page = PageFlushCost(k.rules(), k.costs()) * info.strides();
  FlushPrices prices;
  cpus.ForEach([&](CpuId cpu) {
    const TlbState& tlb = k.kernel.tlb(cpu);
    if (tlb.loaded_mm != info.mm || tlb.is_lazy) return;
    prices.pages += by_page;
    prices.all += k.costs().cr3_flush;
    prices.all += k.hardware.RefillCost(cpu) * WillMiss(k, cpu, info);
  });
  return prices;
}

}  // namespace lookaside
