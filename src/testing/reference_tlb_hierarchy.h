// SPDX-License-Identifier: Apache-2.0
//
// The naive twin of tlb/tlb_hierarchy.h: which arrays serve a side, a level
// and a size is worked out from the configuration at every step.
#ifndef LOOKASIDE_TESTING_REFERENCE_TLB_HIERARCHY_H_
#define LOOKASIDE_TESTING_REFERENCE_TLB_HIERARCHY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lookaside/testing/reference_tlb.h"
#include "lookaside/tlb/tlb_config.h"
#include "lookaside/tlb/tlb_counters.h"
#include "lookaside/tlb/tlb_entry.h"
#include "lookaside/tlb/tlb_hierarchy.h"

namespace lookaside {

class ReferenceTlbHierarchy {
 public:
  ReferenceTlbHierarchy(const TlbHierarchyConfig& config, uint32_t threads,
                        uint64_t seed);

  const std::vector<ReferenceTlb>& arrays() const { return arrays_; }

  struct Found {
    int level = 0;
    size_t array = 0;
    size_t second_array = 0;
    PageSize size = PageSize::k4K;
    TlbEntry* entry = nullptr;  // in the first level
  };
  Found Lookup(AccessSide side, const TlbContext& context, VirtPage page,
               std::vector<TlbCounters>& counters);
  Found Fill(AccessSide side, VirtPage page, const TlbEntry& walked,
             std::vector<TlbCounters>& counters);
  void CountHit(AccessSide side, VirtPage page, const Found& found,
                std::vector<TlbCounters>& counters) const;
  void CountMiss(AccessSide side, VirtPage page, PageSize size,
                 std::vector<TlbCounters>& counters) const;
  void SetDirty(const TlbContext& context, VirtPage page);
  void DropPage(const TlbContext& context, VirtPage page, bool globals,
                std::vector<TlbCounters>& counters);
  void DropContextsIf(const std::function<bool(ContextTag)>& drop,
                      std::vector<TlbCounters>& counters);
  void OnLoadContext(const TlbContext& context,
                     std::vector<TlbCounters>& counters);
  void SetActiveThreads(uint32_t mask, std::vector<TlbCounters>& counters);

 private:
  struct Hit {
    size_t array = 0;
    TlbEntry* entry = nullptr;
  };

  std::vector<size_t> ArraysOf(uint32_t level, AccessSide side,
                               PageSize size) const;
  std::optional<PageSize> HeldAs(uint32_t level, AccessSide side,
                                 PageSize size) const;
  std::optional<size_t> BankFor(uint32_t level, AccessSide side, VirtPage page,
                                PageSize size) const;
  std::optional<Hit> FindIn(uint32_t level, AccessSide side,
                            const TlbContext& context, VirtPage page);
  Found FillFirst(AccessSide side, VirtPage page, const TlbEntry& entry,
                  std::vector<TlbCounters>& counters);
  void FillSecond(AccessSide side, VirtPage page, const TlbEntry& entry,
                  std::vector<TlbCounters>& counters);
  void TakeVictim(AccessSide side, const TlbEntry& victim,
                  std::vector<TlbCounters>& counters);
  TlbEntry* HolderBelow(AccessSide side, const TlbEntry& entry, PageSize size);
  void AfterDrop(size_t array, uint32_t dropped,
                 std::vector<TlbCounters>& counters);
  bool IsIncluded(const TlbConfig& first, const TlbEntry& entry);
  ReferenceTlb::Inserted Insert(size_t array, const TlbEntry& entry,
                                std::vector<TlbCounters>& counters);

  TlbInclusion inclusion_;
  std::vector<ReferenceTlb> arrays_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TESTING_REFERENCE_TLB_HIERARCHY_H_
