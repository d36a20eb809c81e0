// SPDX-License-Identifier: Apache-2.0
//
// ASIDs that an address space has on all CPUs at once (Linux 6.15,
// arch/x86/mm/tlb.c, allocate_global_asid). They are numbered after the six
// dynamic ones. One that is given back may have entries left in any TLB, so it
// is used again only after a rollover: when all have been handed out, a flush
// of everything, everywhere, brings back what was given back until then.
//
// A value: comparable, hashable.
#ifndef LOOKASIDE_KERNEL_GLOBAL_ASIDS_H_
#define LOOKASIDE_KERNEL_GLOBAL_ASIDS_H_

#include <cstdint>
#include <optional>
#include <set>

#include "lookaside/base/digest.h"
#include "lookaside/kernel/tlb_state.h"

namespace lookaside {

class GlobalAsids {
 public:
  explicit GlobalAsids(uint16_t count)
      : end_(static_cast<uint16_t>(kDynamicAsids + count)) {}

  struct Choice {
    uint16_t asid = 0;
    bool rolled_over = false;  // flush everything before it is used
  };
  // Nothing: all are in use.
  std::optional<Choice> Allocate() {
    if (next_ < end_) return Choice{next_++, false};
    if (reusable_.empty()) {
      reusable_.swap(freed_);
      if (reusable_.empty()) return std::nullopt;
      return Choice{TakeReusable(), true};
    }
    return Choice{TakeReusable(), false};
  }
  void Free(uint16_t asid) { freed_.insert(asid); }

  void AddTo(Digest& digest) const {
    digest.Add(next_);
    for (const std::set<uint16_t>* set : {&reusable_, &freed_}) {
      digest.Add(set->size());
      for (const uint16_t asid : *set) digest.Add(asid);
    }
  }
  friend bool operator==(const GlobalAsids&, const GlobalAsids&) = default;

 private:
  uint16_t TakeReusable() {
    const uint16_t asid = *reusable_.begin();
    reusable_.erase(reusable_.begin());
    return asid;
  }

  uint16_t next_ = kDynamicAsids;
  uint16_t end_;
  std::set<uint16_t> reusable_;  // flushed since they were given back
  std::set<uint16_t> freed_;     // not yet
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_GLOBAL_ASIDS_H_
