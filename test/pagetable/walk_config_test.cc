// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/walk_config.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

TEST(WalkConfig, ErrorsNameKeyValueAndWhatIsAllowed) {
  const struct {
    std::function<void(WalkConfig&)> change;
    std::string want;
  } cases[] = {
      {[](WalkConfig&) {}, ""},
      {[](WalkConfig& c) { c.l3 = {.lines = 45056, .ways = 11, .cycles = 75}; },
       ""},
      {[](WalkConfig& c) { c.l1 = {.lines = 32, .ways = 3}; },
       "walk.l1_ways = 3: walk.l1_lines (32) divided by the ways must be a "
       "power of two"},
      {[](WalkConfig& c) { c.l2 = {.lines = 48, .ways = 4}; },
       "walk.l2_ways = 4: walk.l2_lines (48) divided by the ways must be a "
       "power of two"},
      {[](WalkConfig& c) { c.l3 = {.lines = 48, .ways = 0}; },
       "walk.l3_ways = 0: walk.l3_lines (48) divided by the ways must be a "
       "power of two"},
      {[](WalkConfig& c) { c.l3.cycles = 1'000'001; },
       "walk.l3_cycles = 1000001: must be between 0 and 1000000"},
      {[](WalkConfig& c) { c.walkers = 0; },
       "walk.walkers = 0: must be between 1 and 64"},
      {[](WalkConfig& c) { c.overlap = Permille(1500); },
       "walk.overlap = 1.5: must be between 0 and 1"},
      {[](WalkConfig& c) { c.data_pressure = Permille(1001); },
       "walk.data_pressure = 1.001: must be between 0 and 1"},
      {[](WalkConfig& c) { c.remote_memory_ns = 2'000'000; },
       "walk.remote_memory_ns = 2000000: must be between 0 and 1000000"}};
  for (const auto& [change, want] : cases) {
    WalkConfig config;
    change(config);
    EXPECT_EQ(Message(Validate(config)), want);
  }
}

TEST(PagingConfig, ErrorsNameKeyValueAndWhatIsAllowed) {
  EXPECT_TRUE(Validate(PagingConfig()).ok());
  EXPECT_EQ(Message(Validate(PagingConfig{.levels = 3})),
            "paging.levels = 3: must be 4 or 5");
  EXPECT_EQ(Message(Validate(PagingConfig{.node_memory = 4096})),
            "paging.node_memory = 4096: must be a multiple of 1 GiB between 1 "
            "GiB and 4194304 GiB");
}

}  // namespace
}  // namespace lookaside
