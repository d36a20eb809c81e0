// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/host_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace lookaside {
namespace {

TEST(HostThreads, EveryThingIsDoneOnceInEveryRound) {
  for (const unsigned count : {1u, 2u, 5u}) {
    HostThreads threads(count);
    std::vector<std::atomic<int>> done(37);
    for (int round = 1; round <= 200; ++round) {
      threads.ForEach(done.size(), [&](size_t i) { ++done[i]; });
      for (const std::atomic<int>& times : done) ASSERT_EQ(times, round);
    }
  }
}

TEST(HostThreads, FewerThingsThanThreadsAndNone) {
  HostThreads threads(8);
  std::atomic<int> done = 0;
  threads.ForEach(0, [&](size_t) { ++done; });
  EXPECT_EQ(done, 0);
  threads.ForEach(1, [&](size_t) { ++done; });
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace lookaside
