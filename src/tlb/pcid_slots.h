// SPDX-License-Identifier: Apache-2.0
//
// Which address spaces may have entries in an array that tags them with only
// a few bits: Skylake's STLB keeps four PCIDs, in true LRU order; loading a
// fifth recycles the slot of the one loaded longest ago and drops its entries.
// Source: TLB;DR (USENIX Security 2022), findings 16 to 19; the slots are
// shared by the hardware threads of a core.
//
// An array without a limit (`limit` = TlbConfig::kNoPcidLimit) keeps no list.
// With a limit of 0 or 1 each hardware thread has one slot of its own, since
// a sibling must be able to run.
#ifndef LOOKASIDE_TLB_PCID_SLOTS_H_
#define LOOKASIDE_TLB_PCID_SLOTS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "lookaside/tlb/context_table.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

class PcidSlots {
 public:
  PcidSlots() = default;
  PcidSlots(uint32_t limit, uint32_t threads, bool per_thread)
      : limit_(limit == 0 ? 1 : limit),
        per_thread_(per_thread || limit <= 1),
        lists_(limited() ? (per_thread_ ? threads : 1) : 0) {}

  bool limited() const { return limit_ != TlbConfig::kNoPcidLimit; }

  // Whether Use would change nothing: a context belongs to one thread, so the
  // one used last of all is the first of its list.
  bool UsedLast(ContextTag context) const { return context == last_used_; }

  // Makes `context` the most recent of its slots; returns the context that
  // lost its slot to it, whose entries the caller drops.
  std::optional<ContextTag> Use(ContextTag context, ThreadSlot thread) {
    last_used_ = context;
    std::vector<ContextTag>& list = lists_[per_thread_ ? thread.value() : 0];
    const auto known = std::find(list.begin(), list.end(), context);
    if (known != list.end()) {
      std::rotate(list.begin(), known, known + 1);
      return std::nullopt;
    }
    list.insert(list.begin(), context);
    if (list.size() <= limit_) return std::nullopt;
    const ContextTag lost = list.back();
    list.pop_back();
    return lost;
  }

  // Whether `context` may have entries.
  bool Has(ContextTag context, ThreadSlot thread) const {
    if (!limited()) return true;
    const std::vector<ContextTag>& list =
        lists_[per_thread_ ? thread.value() : 0];
    return std::find(list.begin(), list.end(), context) != list.end();
  }

  void AddTo(Digest& digest, const ContextTable& contexts) const {
    for (const std::vector<ContextTag>& list : lists_) {
      digest.Add(list.size());
      for (ContextTag context : list) contexts.AddTo(digest, context);
    }
  }

 private:
  uint32_t limit_ = TlbConfig::kNoPcidLimit;
  bool per_thread_ = false;
  ContextTag last_used_;                        // 0: none
  std::vector<std::vector<ContextTag>> lists_;  // most recent first
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_PCID_SLOTS_H_
