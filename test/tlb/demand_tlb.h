// SPDX-License-Identifier: Apache-2.0
//
// Arrays filled on demand, as a stream of accesses would: for tests whose
// subject is the hit ratio.
#ifndef LOOKASIDE_TEST_TLB_DEMAND_TLB_H_
#define LOOKASIDE_TEST_TLB_DEMAND_TLB_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "lookaside/tlb/tlb.h"
#include "lookaside/tlb/tlb_hierarchy.h"

namespace lookaside {

inline constexpr TlbContext kContext0{ContextTag(1), ContextTag(100),
                                      ThreadSlot(0)};
inline constexpr TlbContext kContext1{ContextTag(2), ContextTag(100),
                                      ThreadSlot(1)};

inline TlbEntry EntryFor(const TlbContext& context, uint64_t page) {
  TlbEntry entry;
  entry.page = VirtPage(page);
  entry.frame = FrameNumber(page);
  entry.context = context.tag;
  entry.thread = context.thread;
  return entry;
}

// One array of 4K pages.
class DemandTlb {
 public:
  explicit DemandTlb(const TlbConfig& config, uint32_t threads = 1)
      : tlb_(config, threads, /*seed=*/1) {}

  // Whether it hit.
  bool Access(uint64_t page, const TlbContext& context = kContext0) {
    const uint32_t slot = tlb_.Find(context, VirtPage(page), PageSize::k4K);
    if (slot == Tlb::kMiss) {
      tlb_.Insert(EntryFor(context, page));
      return false;
    }
    tlb_.OnHit(slot);
    return true;
  }

  Tlb& tlb() { return tlb_; }

 private:
  Tlb tlb_;
};

// All arrays of a core, data accesses to 4K pages.
class DemandHierarchy {
 public:
  explicit DemandHierarchy(const TlbHierarchyConfig& config,
                           uint32_t threads = 1)
      : tlbs_(config, threads, /*seed=*/1), counters_(config.arrays.size()) {}

  // The level that hit, 0 for none.
  int Access(uint64_t page, const TlbContext& context = kContext0) {
    const auto found =
        tlbs_.Lookup(AccessSide::kData, context, VirtPage(page), counters_);
    if (found.level == 0) {
      tlbs_.Fill(AccessSide::kData, VirtPage(page), EntryFor(context, page),
                 counters_);
    }
    return found.level;
  }

  TlbHierarchy& tlbs() { return tlbs_; }
  std::vector<TlbCounters>& counters() { return counters_; }

 private:
  TlbHierarchy tlbs_;
  std::vector<TlbCounters> counters_;
};

// Five standard deviations of the mean of `n` independent draws that are 1
// with probability `p`: exceeded by chance once in 1.7 million tests.
inline double FiveSigma(double p, double n) {
  return 5 * std::sqrt(p * (1 - p) / n);
}

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_TLB_DEMAND_TLB_H_
