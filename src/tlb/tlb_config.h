// SPDX-License-Identifier: Apache-2.0
//
// The shape of a core's TLBs, as plain data: keys `tlb.<name>.*` and
// `tlb.inclusion`. What each policy does is told where it is implemented
// (tlb/replacement.h, tlb/set_index.h, tlb/tlb_hierarchy.h), and what can be
// built in tlb/validate_tlb.h.
#ifndef LOOKASIDE_TLB_TLB_CONFIG_H_
#define LOOKASIDE_TLB_TLB_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "lookaside/base/address.h"

namespace lookaside {

enum class TlbSide : uint8_t { kData, kInst, kUnified };

enum class TlbReplacement : uint8_t {
  kLru,
  kFifo,
  kRandom,
  kTreePlru,
  // Three groups of ways; the victim's group is the one after the group used
  // last, and a tree-PLRU chooses within it: (MRU+1)%3 x PLRU2 for six ways,
  // x PLRU4 for twelve. Source: "TLB;DR", USENIX Security 2022.
  kMru3Plru2,
  kMru3Plru4,
};

enum class TlbHash : uint8_t { kLinear, kXor7, kXor8 };

// How hardware threads of a core share an array's capacity.
enum class TlbSmt : uint8_t {
  kCompetitive,  // any thread may take any entry
  kPartitioned,  // the sets are divided among the threads that are active
  kReplicated,   // each thread has `entries` of its own
};

enum class TlbInclusion : uint8_t { kNone, kInclusive, kExclusive };

// A set of page sizes.
class PageSizeSet {
 public:
  constexpr PageSizeSet() = default;
  constexpr PageSizeSet(std::initializer_list<PageSize> sizes) {
    for (PageSize size : sizes) Add(size);
  }
  constexpr void Add(PageSize size) {
    bits_ = static_cast<uint8_t>(bits_ | (1u << Index(size)));
  }
  constexpr bool Has(PageSize size) const {
    return (bits_ >> Index(size)) & 1u;
  }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(PageSizeSet, PageSizeSet) = default;

 private:
  uint8_t bits_ = 0;
};

// The most arrays that may hold one page size on one level and side.
inline constexpr size_t kMaxTlbBanks = 8;

// One array.
struct TlbConfig {
  // No limit on how many PCIDs an array holds at once.
  static constexpr uint32_t kNoPcidLimit = ~uint32_t{0};

  std::string name;
  uint32_t level = 1;  // 1 or 2
  TlbSide side = TlbSide::kData;
  PageSizeSet pages;
  uint32_t entries = 0;  // in all, but per thread when replicated
  uint32_t ways = 0;     // equal to `entries`: fully associative
  TlbReplacement replacement = TlbReplacement::kLru;
  TlbHash hash = TlbHash::kLinear;
  TlbSmt smt = TlbSmt::kCompetitive;
  uint32_t latency = 0;  // cycles that a hit adds to the access
  // How many PCIDs may have entries at once, the running one included; the
  // least recently loaded one is dropped for a new one. 0 and 1: entries do
  // not survive the load of another PCID.
  uint32_t pcid_slots = kNoPcidLimit;
  // A page of a size that no array of this level and side lists is held here
  // in pieces of the largest smaller size listed. The first level always
  // does so, since an access needs its translation somewhere.
  bool fracture = false;

  uint32_t sets() const { return entries / ways; }

  friend bool operator==(const TlbConfig&, const TlbConfig&) = default;
};

// All arrays of a core.
struct TlbHierarchyConfig {
  std::vector<TlbConfig> arrays;  // in the order of the configuration
  TlbInclusion inclusion = TlbInclusion::kNone;

  friend bool operator==(const TlbHierarchyConfig&,
                         const TlbHierarchyConfig&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_TLB_CONFIG_H_
