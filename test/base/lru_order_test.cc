// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/lru_order.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <list>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

TEST(LruOrder, BeginsWithWay0TheOldest) {
  for (uint32_t ways = 1; ways <= LruOrder::kMostWays; ++ways) {
    const LruOrder order(ways);
    EXPECT_EQ(order.Oldest(ways), 0u);
    for (uint32_t place = 0; place < ways; ++place) {
      EXPECT_EQ(order.At(place), ways - 1 - place) << ways << " ways";
    }
  }
}

TEST(LruOrder, FollowsAListForEveryNumberOfWays) {
  Rng rng(1);
  for (uint32_t ways = 1; ways <= LruOrder::kMostWays; ++ways) {
    LruOrder order(ways);
    std::list<uint32_t> newest_first;
    for (uint32_t way = 0; way < ways; ++way) newest_first.push_front(way);
    for (int step = 0; step < 500; ++step) {
      const auto way = static_cast<uint32_t>(rng.Below(ways));
      order.Touch(way);
      newest_first.remove(way);
      newest_first.push_front(way);
      uint32_t place = 0;
      for (uint32_t want : newest_first) ASSERT_EQ(order.At(place++), want);
      ASSERT_EQ(order.Oldest(ways), newest_first.back());
    }
  }
}

}  // namespace
}  // namespace lookaside
