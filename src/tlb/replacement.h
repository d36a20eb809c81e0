// SPDX-License-Identifier: Apache-2.0
//
// Which way of a full set gives place to a new entry.
//
//   lru          the way touched longest ago
//   fifo         the way filled longest ago
//   random       any, by the array's own generator; it draws only here
//   tree_plru    a binary tree of bits, each pointing to the half used longer
//                ago; a touch points every bit on its path away from itself
//   mru3_plruN   three groups of N ways; the victim's group is the one after
//                the group touched last, modulo three; a tree-PLRU within it
//
// Sources: the trees and groups are those that TLB;DR (USENIX Security 2022)
// recovered from Skylake; its permutation vectors are our unit tests. A fill
// is a touch. A free way is taken first, the lowest one, before any policy is
// asked; what hardware does there is not published.
//
// Left out: not-recently-used bits, and policies that look at the page.
#ifndef LOOKASIDE_TLB_REPLACEMENT_H_
#define LOOKASIDE_TLB_REPLACEMENT_H_

#include <cstdint>
#include <vector>

#include "lookaside/base/digest.h"
#include "lookaside/base/rng.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

// The policy's state for all sets of one array. A copyable value.
class Replacement {
 public:
  Replacement() = default;
  // REQUIRES: `ways` suits the policy (see SuitsWays).
  Replacement(TlbReplacement policy, uint32_t sets, uint32_t ways,
              uint64_t seed);

  static bool SuitsWays(TlbReplacement policy, uint32_t ways);

  void OnHit(uint32_t set, uint32_t way) {
    if (uses_trees_) {
      Point(set, way);
    } else if (policy_ == TlbReplacement::kLru) {
      stamps_[set * ways_ + way] = ++now_;
    }
  }

  void OnFill(uint32_t set, uint32_t way) {
    if (uses_trees_) {
      Point(set, way);
    } else if (policy_ != TlbReplacement::kRandom) {
      stamps_[set * ways_ + way] = ++now_;
    }
  }

  // REQUIRES: every way of the set holds an entry.
  uint32_t Victim(uint32_t set);

  // The ways of `set` in the order in which a canonical digest lists them:
  // oldest first for lru and fifo, where the position is of no consequence;
  // by position otherwise.
  std::vector<uint32_t> CanonicalOrder(uint32_t set) const;
  // Whether that order is by position, so that free ways count in it.
  bool OrderIsPosition() const { return stamps_.empty(); }

  // What CanonicalOrder does not show: trees, and the generator's state.
  void AddTo(Digest& digest, uint32_t set) const;
  void AddGeneratorTo(Digest& digest) const;

 private:
  // A touch of a way, as bits of its set's tree word.
  struct Path {
    uint64_t mask = 0;
    uint64_t bits = 0;
  };

  void Point(uint32_t set, uint32_t way) {
    trees_[set] = (trees_[set] & ~paths_[way].mask) | paths_[way].bits;
  }
  void BuildPaths();
  uint32_t OldestWay(uint32_t set) const;
  uint32_t TreeVictim(uint64_t tree) const;

  TlbReplacement policy_ = TlbReplacement::kLru;
  bool uses_trees_ = false;
  uint32_t ways_ = 1;
  uint32_t group_ways_ = 1;       // leaves of one tree
  std::vector<uint64_t> stamps_;  // lru, fifo: by entry
  uint64_t now_ = 0;
  std::vector<uint64_t> trees_;  // by set
  std::vector<Path> paths_;      // by way
  Rng rng_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_REPLACEMENT_H_
