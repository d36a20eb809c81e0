// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace lookaside {
namespace {

using testing::ElementsAre;

// Two sockets of two cores of two hardware threads.
Topology Small() {
  TopologyConfig config;
  config.sockets = 2;
  config.cores_per_socket = 2;
  config.threads_per_core = 2;
  return Topology(config);
}

std::vector<uint32_t> Places(ReplayPlacement placement, uint32_t first,
                             uint32_t threads = 8) {
  std::vector<uint32_t> places;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    places.push_back(
        PlaceThread(placement, Small(), CpuId(first), thread).value());
  }
  return places;
}

TEST(Placement, PackFillsSiblingsThenCoresThenSockets) {
  EXPECT_THAT(Places(ReplayPlacement::kPack, 0),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Places(ReplayPlacement::kPack, 6),
              ElementsAre(6, 7, 0, 1, 2, 3, 4, 5));
}

TEST(Placement, SpreadTakesSocketsThenCoresThenSiblings) {
  EXPECT_THAT(Places(ReplayPlacement::kSpread, 0),
              ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
}

TEST(Placement, RoundRobinTakesCoresThenSiblings) {
  EXPECT_THAT(Places(ReplayPlacement::kRoundRobin, 0),
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_EQ(Places(ReplayPlacement::kRecorded, 0),
            Places(ReplayPlacement::kRoundRobin, 0));
}

TEST(Placement, EveryCpuIsTakenOnceFromWhereverItBegins) {
  for (const ReplayPlacement placement :
       {ReplayPlacement::kPack, ReplayPlacement::kSpread,
        ReplayPlacement::kRoundRobin, ReplayPlacement::kRecorded}) {
    for (uint32_t first = 0; first < 8; ++first) {
      const std::vector<uint32_t> places = Places(placement, first);
      EXPECT_EQ(places.front(), first);
      EXPECT_EQ(std::set<uint32_t>(places.begin(), places.end()).size(), 8u);
    }
  }
}

TEST(Placement, MoreThreadsThanCpusBeginAgain) {
  const std::vector<uint32_t> places = Places(ReplayPlacement::kSpread, 3, 19);
  for (size_t i = 8; i < places.size(); ++i) {
    EXPECT_EQ(places[i], places[i - 8]);
  }
}

}  // namespace
}  // namespace lookaside
