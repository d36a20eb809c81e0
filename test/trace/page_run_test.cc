// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/page_run.h"

#include <gtest/gtest.h>

#include <vector>

namespace lookaside {
namespace {

TraceEvent At(EventKind kind, uint64_t page, uint32_t thread = 0) {
  TraceEvent event;
  event.kind = kind;
  event.address = VirtAddr((page << kPageShift) + 16);
  event.size = 4;
  event.thread = thread;
  return event;
}

constexpr EventKind F = EventKind::kFetch;
constexpr EventKind L = EventKind::kLoad;
constexpr EventKind S = EventKind::kStore;
constexpr EventKind M = EventKind::kModify;

std::vector<PageRun> Fold(const std::vector<TraceEvent>& events) {
  std::vector<PageRun> runs;
  RunFolder folder;
  EXPECT_EQ(folder.Fold(events, runs), events.size());
  folder.Finish(runs);
  return runs;
}

TEST(RunFolder, RepeatsOnTheHeadsPagesBecomeCounts) {
  const std::vector<PageRun> runs = Fold(
      {At(F, 1), At(F, 1), At(L, 2), At(F, 1), At(L, 2), At(F, 1), At(F, 1)});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].head_count, 2);
  EXPECT_EQ(runs[0].heads[0], At(F, 1));
  EXPECT_EQ(runs[0].heads[1], At(L, 2));
  EXPECT_EQ(runs[0].between[0], 1);
  EXPECT_EQ(runs[0].after[0], 3);
  EXPECT_EQ(runs[0].after[1], 1);
}

TEST(RunFolder, AnotherPageOfASideEndsTheRun) {
  EXPECT_EQ(Fold({At(F, 1), At(F, 2)}).size(), 2u);
  EXPECT_EQ(Fold({At(F, 1), At(L, 7), At(F, 1), At(L, 8)}).size(), 2u);
}

TEST(RunFolder, TheFirstStoreAfterALoadHeadsARunOfItsOwn) {
  EXPECT_EQ(Fold({At(L, 1), At(S, 1), At(S, 1), At(L, 1)}).size(), 2u);
  EXPECT_EQ(Fold({At(L, 1), At(M, 1)}).size(), 2u);
  EXPECT_EQ(Fold({At(S, 1), At(L, 1), At(S, 1), At(M, 1)}).size(), 1u);
}

TEST(RunFolder, ASwitchOfThreadEndsTheRun) {
  EXPECT_EQ(Fold({At(F, 1, 0), At(F, 1, 1), At(F, 1, 0)}).size(), 3u);
}

TEST(RunFolder, ARunHasAtMost256InstructionFetches) {
  const std::vector<PageRun> runs =
      Fold(std::vector<TraceEvent>(600, At(F, 1)));
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].after[0], 255);
  EXPECT_EQ(runs[2].after[0], 600 - 512 - 1);
}

TEST(RunFolder, ACallEndsTheRunAndIsInNone) {
  const std::vector<TraceEvent> events = {
      At(F, 1), At(F, 1), {VirtAddr(0), 0, EventKind::kCall}, At(F, 1)};
  std::vector<PageRun> runs;
  RunFolder folder;
  ASSERT_EQ(folder.Fold(events, runs), 2u);
  EXPECT_EQ(runs, Fold({At(F, 1), At(F, 1)}));
  // The call that comes first ends nothing more.
  EXPECT_EQ(folder.Fold(std::span(events).subspan(2), runs), 0u);
  EXPECT_EQ(runs.size(), 1u);
  EXPECT_EQ(folder.Fold(std::span(events).subspan(3), runs), 1u);
  folder.Finish(runs);
  EXPECT_EQ(runs.size(), 2u);
}

TEST(RunFolder, AnEventThatSpansPagesIsARunOfItsOwn) {
  TraceEvent spanning = At(L, 1);
  spanning.address = VirtAddr(0x1ffe);
  const std::vector<PageRun> runs = Fold({At(L, 1), spanning, At(L, 1)});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[1].heads[0], spanning);
  EXPECT_EQ(runs[1].head_count, 1);
}

TEST(RunFolder, RunsDoNotDependOnHowTheStreamIsCut) {
  std::vector<TraceEvent> events;
  for (uint64_t i = 0; i < 5000; ++i) {
    events.push_back(At(static_cast<EventKind>(i * 7 % 4), i / 23 % 5));
  }
  const std::vector<PageRun> whole = Fold(events);
  for (const size_t piece : {1u, 3u, 64u}) {
    std::vector<PageRun> runs;
    RunFolder folder;
    for (size_t i = 0; i < events.size(); i += piece) {
      const size_t n = std::min(piece, events.size() - i);
      EXPECT_EQ(folder.Fold(std::span(events).subspan(i, n), runs), n);
    }
    folder.Finish(runs);
    EXPECT_EQ(runs, whole);
  }
}

}  // namespace
}  // namespace lookaside
