// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/replacement.h"

#include <bit>
#include <numeric>

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

bool IsGrouped(TlbReplacement policy) {
  return policy == TlbReplacement::kMru3Plru2 ||
         policy == TlbReplacement::kMru3Plru4;
}

bool UsesTrees(TlbReplacement policy) {
  return policy == TlbReplacement::kTreePlru || IsGrouped(policy);
}

}  // namespace

bool Replacement::SuitsWays(TlbReplacement policy, uint32_t ways) {
  switch (policy) {
    case TlbReplacement::kTreePlru:
      return std::has_single_bit(ways) && ways <= 64;
    case TlbReplacement::kMru3Plru2:
      return ways == 6;
    case TlbReplacement::kMru3Plru4:
      return ways == 12;
    default:
      return ways >= 1;
  }
}

Replacement::Replacement(TlbReplacement policy, uint32_t sets, uint32_t ways,
                         uint64_t seed)
    : policy_(policy),
      uses_trees_(UsesTrees(policy)),
      grouped_(IsGrouped(policy)),
      ways_(ways),
      group_ways_(IsGrouped(policy) ? ways / kGroups : ways),
      rng_(seed) {
  LOOKASIDE_CHECK(SuitsWays(policy, ways));
  if (uses_trees_) {
    trees_.resize(sets);
    BuildPaths();
  } else if (uses_recency()) {
    recency_ = Recency(sets, ways);
  }
}

// A tree's nodes are numbered as in a heap from 1; node n is bit n - 1 and
// points to its right child when set. A touch sets each node on its path to
// point to the other child.
void Replacement::BuildPaths() {
  paths_.resize(ways_);
  for (uint32_t way = 0; way < ways_; ++way) {
    const uint32_t group = way / group_ways_;
    Path& path = paths_[way];
    for (uint32_t node = group_ways_ + way % group_ways_; node > 1; node /= 2) {
      const uint32_t bit = group * kGroupTreeBits + node / 2 - 1;
      const uint64_t touched_left = node % 2 == 0;
      path.mask |= uint64_t{1} << bit;
      path.bits |= touched_left << bit;
    }
    if (!IsGrouped(policy_)) continue;
    path.mask |= uint64_t{3} << kLastGroupShift;
    path.bits |= uint64_t{group} << kLastGroupShift;
  }
  if (group_ways_ > kMostLeafs) return;
  tree_mask_ = (1u << (group_ways_ - 1)) - 1;
  for (uint32_t tree = 0; tree <= tree_mask_; ++tree) {
    const uint32_t leaf = VictimInTree(tree);
    const uint64_t next = (tree & ~paths_[leaf].mask) | paths_[leaf].bits;
    turns_[tree] = {static_cast<uint8_t>(leaf),
                    static_cast<uint8_t>(next & tree_mask_)};
  }
  one_small_tree_ = !grouped_;
}

// `tree` holds one tree's bits in its lowest.
uint32_t Replacement::VictimInTree(uint64_t tree) const {
  uint32_t node = 1;
  while (node < group_ways_) {
    node = 2 * node + static_cast<uint32_t>((tree >> (node - 1)) & 1);
  }
  return node - group_ways_;
}

std::vector<uint32_t> Replacement::CanonicalOrder(uint32_t set) const {
  if (uses_recency()) return recency_.OldestFirst(set);
  std::vector<uint32_t> order(ways_);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

void Replacement::AddTo(Digest& digest, uint32_t set) const {
  if (uses_trees_) digest.Add(trees_[set]);
}

void Replacement::AddGeneratorTo(Digest& digest) const {
  if (policy_ != TlbReplacement::kRandom) return;
  for (uint64_t word : rng_.state()) digest.Add(word);
}

}  // namespace lookaside
