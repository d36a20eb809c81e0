// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/run_length.h"

#include <gtest/gtest.h>

#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/trace/page_run.h"

namespace lookaside {
namespace {

TEST(RunLength, CutsWhereFoldingDoes) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    std::vector<TraceEvent> events;
    for (int i = 0; i < 20'000; ++i) {
      const uint64_t page = 1 + rng.Below(rng.Below(20) == 0 ? 5 : 1);
      const bool spans = rng.Below(100) == 0;
      events.push_back(
          {.address = VirtAddr((page << kPageShift) + (spans ? 4092 : 0)),
           .size = 8,
           .kind = static_cast<EventKind>(rng.Below(seed % 4 + 1))});
    }
    RunFolder folder;
    std::vector<PageRun> runs;
    ASSERT_EQ(folder.Fold(events, runs), events.size());
    folder.Finish(runs);
    std::span<const TraceEvent> left(events);
    for (const PageRun& run : runs) {
      ASSERT_EQ(RunLength(left), EventsOf(run));
      left = left.subspan(EventsOf(run));
    }
    EXPECT_TRUE(left.empty());
  }
}

}  // namespace
}  // namespace lookaside
