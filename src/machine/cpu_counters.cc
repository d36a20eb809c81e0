// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/cpu_counters.h"

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

// Calls combine(a_counter, b_counter) for every counter outside `tlb`.
template <typename Combine>
void ForEach(CpuCounters& a, const CpuCounters& b, Combine combine) {
  combine(a.instructions, b.instructions);
  combine(a.loads, b.loads);
  combine(a.stores, b.stores);
  combine(a.ifetches, b.ifetches);
  TranslationCounters& t = a.translation;
  const TranslationCounters& u = b.translation;
  combine(t.l1_hits, u.l1_hits);
  combine(t.stlb_hits, u.stlb_hits);
  combine(t.walks, u.walks);
  combine(t.walk_loads, u.walk_loads);
  combine(t.dirty_assists, u.dirty_assists);
  combine(t.dirty_assist_loads, u.dirty_assist_loads);
  combine(t.fault_walk_loads, u.fault_walk_loads);
  combine(t.page_faults, u.page_faults);
  for (size_t i = 0; i < t.walk_loads_by_level.size(); ++i) {
    combine(t.walk_loads_by_level[i], u.walk_loads_by_level[i]);
    combine(t.psc_hits[i], u.psc_hits[i]);
  }
  for (size_t i = 0; i < t.walk_loads_by_place.size(); ++i) {
    combine(t.walk_loads_by_place[i], u.walk_loads_by_place[i]);
  }
}

}  // namespace

CpuCounters& CpuCounters::operator+=(const CpuCounters& other) {
  LOOKASIDE_CHECK(tlb.size() == other.tlb.size());
  ForEach(*this, other, [](uint64_t& a, uint64_t b) { a += b; });
  for (size_t i = 0; i < tlb.size(); ++i) tlb[i] += other.tlb[i];
  return *this;
}

CpuCounters& CpuCounters::operator-=(const CpuCounters& other) {
  LOOKASIDE_CHECK(tlb.size() == other.tlb.size());
  ForEach(*this, other, [](uint64_t& a, uint64_t b) { a -= b; });
  for (size_t i = 0; i < tlb.size(); ++i) tlb[i] -= other.tlb[i];
  return *this;
}

}  // namespace lookaside
