// SPDX-License-Identifier: Apache-2.0
//
// The naive twin of tlb/replacement.h for one set: each policy as a textbook
// draws it, with lists, queues and trees of nodes.
#ifndef LOOKASIDE_TESTING_REFERENCE_TLB_REPLACEMENT_H_
#define LOOKASIDE_TESTING_REFERENCE_TLB_REPLACEMENT_H_

#include <cstdint>
#include <list>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

// A binary tree whose inner nodes remember which half was used longer ago.
struct ReferencePlruTree {
  explicit ReferencePlruTree(uint32_t leaf_count);

  void Touch(uint32_t leaf);
  uint32_t Victim() const;

  uint32_t leaves;
  bool right_is_older = false;
  std::vector<ReferencePlruTree> halves;  // two, or none for a leaf
};

class ReferenceReplacement {
 public:
  ReferenceReplacement(TlbReplacement policy, uint32_t ways);

  void OnHit(uint32_t way);
  void OnFill(uint32_t way);
  // REQUIRES: every way was filled. Draws from `rng` under random only.
  uint32_t Victim(Rng& rng) const;

 private:
  TlbReplacement policy_;
  uint32_t ways_;
  std::list<uint32_t> newest_first_;      // lru: used; fifo: filled
  std::vector<ReferencePlruTree> trees_;  // one, or one per group
  uint32_t group_used_last_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TESTING_REFERENCE_TLB_REPLACEMENT_H_
