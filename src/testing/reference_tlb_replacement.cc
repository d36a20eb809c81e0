// SPDX-License-Identifier: Apache-2.0
#include "lookaside/testing/reference_tlb_replacement.h"

#include "lookaside/base/check.h"

namespace lookaside {

ReferencePlruTree::ReferencePlruTree(uint32_t leaf_count) : leaves(leaf_count) {
  if (leaves == 1) return;
  halves.emplace_back(leaves / 2);
  halves.emplace_back(leaves / 2);
}

void ReferencePlruTree::Touch(uint32_t leaf) {
  if (leaves == 1) return;
  const bool in_right = leaf >= leaves / 2;
  right_is_older = !in_right;
  if (in_right) {
    halves[1].Touch(leaf - leaves / 2);
  } else {
    halves[0].Touch(leaf);
  }
}

uint32_t ReferencePlruTree::Victim() const {
  if (leaves == 1) return 0;
  return right_is_older ? leaves / 2 + halves[1].Victim() : halves[0].Victim();
}

ReferenceReplacement::ReferenceReplacement(TlbReplacement policy, uint32_t ways)
    : policy_(policy), ways_(ways) {
  switch (policy) {
    case TlbReplacement::kTreePlru:
      trees_.assign(1, ReferencePlruTree(ways));
      break;
    case TlbReplacement::kMru3Plru2:
      trees_.assign(3, ReferencePlruTree(2));
      break;
    case TlbReplacement::kMru3Plru4:
      trees_.assign(3, ReferencePlruTree(4));
      break;
    case TlbReplacement::kLru:
    case TlbReplacement::kFifo:
    case TlbReplacement::kRandom:
      break;
  }
}

void ReferenceReplacement::OnHit(uint32_t way) {
  if (policy_ == TlbReplacement::kLru) {
    newest_first_.remove(way);
    newest_first_.push_front(way);
  } else if (!trees_.empty()) {
    group_used_last_ = way / trees_[0].leaves;
    trees_[group_used_last_].Touch(way % trees_[0].leaves);
  }
}

void ReferenceReplacement::OnFill(uint32_t way) {
  if (policy_ == TlbReplacement::kFifo) {
    newest_first_.remove(way);
    newest_first_.push_front(way);
  } else {
    OnHit(way);
  }
}

uint32_t ReferenceReplacement::Victim(Rng& rng) const {
  if (policy_ == TlbReplacement::kRandom) {
    return static_cast<uint32_t>(rng.Below(ways_));
  }
  if (trees_.empty()) {
    LOOKASIDE_CHECK(newest_first_.size() == ways_);
    return newest_first_.back();
  }
  const uint32_t group = trees_.size() == 1 ? 0 : (group_used_last_ + 1) % 3;
  return group * trees_[0].leaves + trees_[group].Victim();
}

}  // namespace lookaside
