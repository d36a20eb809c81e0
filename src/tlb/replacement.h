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
// is a touch. What hardware does while ways are free is not published; Tlb
// takes the way that the trees point to if that is free, else the lowest.
//
// Left out: not-recently-used bits, and policies that look at the page.
#ifndef LOOKASIDE_TLB_REPLACEMENT_H_
#define LOOKASIDE_TLB_REPLACEMENT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "lookaside/base/digest.h"
#include "lookaside/base/recency.h"
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
      recency_.Touch(set, way);
    }
  }

  void OnFill(uint32_t set, uint32_t way) {
    if (uses_trees_) {
      Point(set, way);
    } else if (policy_ != TlbReplacement::kRandom) {
      recency_.Touch(set, way);
    }
  }

  bool uses_trees() const { return uses_trees_; }

  // REQUIRES: every way of the set holds an entry, unless uses_trees().
  uint32_t Victim(uint32_t set) {
    if (uses_trees_) return TreeVictim(trees_[set]);
    return uses_recency() ? recency_.Oldest(set) : RandomVictim();
  }

  // Victim and OnFill of it in one.
  [[gnu::always_inline]] uint32_t ReplaceVictim(uint32_t set) {
    if (!uses_trees_) {
      return uses_recency() ? recency_.TouchOldest(set) : RandomVictim();
    }
    if (one_small_tree_) {
      const Turn turn = turns_[trees_[set]];
      trees_[set] = turn.next;
      return turn.leaf;
    }
    const uint32_t way = TreeVictim(trees_[set]);
    Point(set, way);
    return way;
  }

  // The ways of `set` in the order in which a canonical digest lists them:
  // oldest first for lru and fifo, where the position is of no consequence;
  // by position otherwise.
  std::vector<uint32_t> CanonicalOrder(uint32_t set) const;
  // Whether that order is by position, so that free ways count in it.
  bool OrderIsPosition() const { return !uses_recency(); }

  // What CanonicalOrder does not show: trees, and the generator's state.
  void AddTo(Digest& digest, uint32_t set) const;
  void AddGeneratorTo(Digest& digest) const;

 private:
  static constexpr uint32_t kGroups = 3;
  // A tree word holds up to three trees of 16 bits, and above them the group
  // touched last; a single tree may take all 64 bits.
  static constexpr uint32_t kGroupTreeBits = 16;
  static constexpr uint32_t kLastGroupShift = 60;

  // A touch of a way, as bits of its set's tree word.
  struct Path {
    uint64_t mask = 0;
    uint64_t bits = 0;
  };

  void Point(uint32_t set, uint32_t way) {
    trees_[set] = (trees_[set] & ~paths_[way].mask) | paths_[way].bits;
  }
  void BuildPaths();
  bool uses_recency() const {
    return policy_ == TlbReplacement::kLru || policy_ == TlbReplacement::kFifo;
  }
  uint32_t RandomVictim() { return static_cast<uint32_t>(rng_.Below(ways_)); }
  uint32_t TreeVictim(uint64_t tree) const;
  uint32_t VictimInTree(uint64_t tree) const;

  TlbReplacement policy_ = TlbReplacement::kLru;
  bool uses_trees_ = false;
  bool grouped_ = false;
  uint32_t ways_ = 1;
  uint32_t group_ways_ = 1;      // leaves of one tree
  Recency recency_;              // lru: of touches; fifo: of fills
  std::vector<uint64_t> trees_;  // by set
  std::vector<Path> paths_;      // by way
  // By the bits of one tree, those of `tree_mask_`: where they point, and what
  // they are once that leaf has been touched. Trees of up to 8 leaves have
  // these; larger ones are walked.
  struct Turn {
    uint8_t leaf = 0;
    uint8_t next = 0;
  };
  static constexpr uint32_t kMostLeafs = 8;
  std::array<Turn, 1 << (kMostLeafs - 1)> turns_{};
  uint32_t tree_mask_ = 0;
  bool one_small_tree_ = false;  // a set's word is one tree that has turns_
  Rng rng_;
};

[[gnu::always_inline]] inline uint32_t Replacement::TreeVictim(
    uint64_t tree) const {
  // The group after the last: a digit of a constant, since a branch would go
  // wrong every third time.
  constexpr uint32_t kNextGroup = 1u | 2u << 2 | 0u << 4;
  static_assert(kGroups == 3);
  uint32_t group = 0;
  if (grouped_) {
    const auto last = static_cast<uint32_t>(tree >> kLastGroupShift);
    group = kNextGroup >> (2 * last) & 3;
  }
  const uint64_t bits = tree >> (group * kGroupTreeBits);
  const uint32_t leaf = group_ways_ <= kMostLeafs
                            ? turns_[bits & tree_mask_].leaf
                            : VictimInTree(bits);
  return group * group_ways_ + leaf;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_REPLACEMENT_H_
