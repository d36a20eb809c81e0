// SPDX-License-Identifier: Apache-2.0
//
// The order of use of the ways of many sets: exact LRU that never searches,
// for any number of ways. Up to 16 ways are one word a set (lru_order.h), more
// a ring of links (BM_UniformRandom/textbook in bench/replay_benchmark.cc:
// 32 ways).
//
// A copyable value. Not thread-safe.
//
//   Recency recency(/*sets=*/64, /*ways=*/4);
//   recency.Touch(set, way);
//   uint32_t victim = recency.TouchOldest(set);
#ifndef LOOKASIDE_BASE_RECENCY_H_
#define LOOKASIDE_BASE_RECENCY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/lru_order.h"

namespace lookaside {

class Recency {
 public:
  Recency() = default;
  // In each set way 0 is the oldest. REQUIRES: ways >= 1.
  Recency(uint32_t sets, uint32_t ways) : ways_(ways) {
    LOOKASIDE_CHECK(ways >= 1);
    if (ways <= LruOrder::kMostWays) {
      orders_.assign(sets, LruOrder(ways));
      return;
    }
    links_.resize(size_t{sets} * (ways + 1));
    for (uint32_t set = 0; set < sets; ++set) {
      for (uint32_t way = 0; way <= ways; ++way) {
        Ring(set)[way] = {way == 0 ? ways : way - 1, way == ways ? 0 : way + 1};
      }
    }
  }

  // Makes `way` the most recently used.
  void Touch(uint32_t set, uint32_t way) {
    if (is_word()) {
      orders_[set].Touch(way);
    } else {
      Move(set, way, /*younger_than=*/Ring(set)[ways_].older);
    }
  }

  uint32_t Youngest(uint32_t set) const {
    return is_word() ? orders_[set].At(0) : Ring(set)[ways_].older;
  }
  bool IsYoungest(uint32_t set, uint32_t way) const {
    return way == Youngest(set);
  }
  uint32_t Oldest(uint32_t set) const {
    return is_word() ? orders_[set].Oldest(ways_) : Ring(set)[ways_].younger;
  }

  // Makes the oldest way the most recently used, and returns it.
  [[gnu::always_inline]] uint32_t TouchOldest(uint32_t set) {
    if (is_word()) return orders_[set].TouchOldest(ways_);
    const uint32_t way = Oldest(set);
    Touch(set, way);
    return way;
  }

  // Makes `way` the oldest.
  void Retire(uint32_t set, uint32_t way) {
    if (is_word()) {
      orders_[set].Retire(way, ways_);
    } else {
      Move(set, way, /*younger_than=*/ways_);
    }
  }

  // The ways of `set`, oldest first.
  std::vector<uint32_t> OldestFirst(uint32_t set) const {
    std::vector<uint32_t> order;
    if (is_word()) {
      for (uint32_t i = ways_; i > 0; --i) {
        order.push_back(orders_[set].At(i - 1));
      }
      return order;
    }
    const Link* const ring = Ring(set);
    for (uint32_t way = ring[ways_].younger; way != ways_;
         way = ring[way].younger) {
      order.push_back(way);
    }
    return order;
  }

 private:
  // Neighbours in the order of use. The ring's place `ways_` is no way: it
  // stands between the youngest and the oldest.
  struct Link {
    uint32_t older = 0;
    uint32_t younger = 0;
  };

  bool is_word() const { return ways_ <= LruOrder::kMostWays; }
  Link* Ring(uint32_t set) { return &links_[size_t{set} * (ways_ + 1)]; }
  const Link* Ring(uint32_t set) const {
    return &links_[size_t{set} * (ways_ + 1)];
  }

  void Move(uint32_t set, uint32_t way, uint32_t younger_than) {
    if (way == younger_than) return;
    Link* const ring = Ring(set);
    ring[ring[way].older].younger = ring[way].younger;
    ring[ring[way].younger].older = ring[way].older;
    const uint32_t next = ring[younger_than].younger;
    ring[way] = {younger_than, next};
    ring[younger_than].younger = way;
    ring[next].older = way;
  }

  uint32_t ways_ = 1;
  std::vector<LruOrder> orders_;  // by set
  std::vector<Link> links_;       // by set, then way
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_RECENCY_H_
