// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/recency.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <vector>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

constexpr uint32_t kSets = 3;

// Words, rings, and both sides of the border between them.
constexpr uint32_t kWays[] = {1, 2, 3, 4, 12, 15, 16, 17, 32, 48, 64};

using Order = std::list<uint32_t>;  // oldest first

std::vector<Order> Fresh(uint32_t ways) {
  Order order;
  for (uint32_t way = 0; way < ways; ++way) order.push_back(way);
  return std::vector<Order>(kSets, order);
}

std::vector<uint32_t> AsVector(const Order& order) {
  return {order.begin(), order.end()};
}

TEST(Recency, BeginsWithWay0TheOldest) {
  for (uint32_t ways : kWays) {
    const Recency recency(kSets, ways);
    for (uint32_t set = 0; set < kSets; ++set) {
      EXPECT_EQ(recency.OldestFirst(set), AsVector(Fresh(ways)[set])) << ways;
    }
  }
}

TEST(Recency, FollowsAListForEveryNumberOfWays) {
  Rng rng(1);
  for (uint32_t ways : kWays) {
    Recency recency(kSets, ways);
    std::vector<Order> want = Fresh(ways);
    for (int step = 0; step < 2000; ++step) {
      const auto set = static_cast<uint32_t>(rng.Below(kSets));
      auto way = static_cast<uint32_t>(rng.Below(ways));
      const uint64_t action = rng.Below(4);
      if (action == 0) {
        way = recency.TouchOldest(set);
        ASSERT_EQ(way, want[set].front());
      } else if (action == 1) {
        recency.Retire(set, way);
      } else {
        recency.Touch(set, way);
      }
      want[set].remove(way);
      want[set].insert(action == 1 ? want[set].begin() : want[set].end(), way);
      ASSERT_EQ(recency.Oldest(set), want[set].front());
      ASSERT_EQ(recency.OldestFirst(set), AsVector(want[set])) << ways;
    }
  }
}

}  // namespace
}  // namespace lookaside
