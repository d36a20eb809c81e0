// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/page_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lookaside/base/rng.h"

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

// The rules of page_run.h, one after another.
class NaiveFolder {
 public:
  std::vector<PageRun> Fold(const std::vector<TraceEvent>& events) {
    for (const TraceEvent& event : events) {
      const bool spans =
          (event.address.value() & (kPageBytes - 1)) + event.size > kPageBytes;
      if (spans || Ends(event)) Finish();
      events_.push_back(event);
      if (spans) Finish();
    }
    Finish();
    return runs_;
  }

 private:
  static bool IsFetch(const TraceEvent& event) { return event.kind == F; }
  static uint64_t Page(const TraceEvent& event) {
    return event.address.value() >> kPageShift;
  }

  // Whether the run in progress ends before `event`.
  bool Ends(const TraceEvent& event) const {
    int of_side = 0;
    const TraceEvent* head = nullptr;
    for (const TraceEvent& earlier : events_) {
      if (earlier.thread != event.thread) return true;
      if (IsFetch(earlier) != IsFetch(event)) continue;
      if (++of_side == 1) head = &earlier;
    }
    if (head == nullptr) return false;
    if (Page(*head) != Page(event)) return true;
    const bool writes = event.kind == S || event.kind == M;
    if (writes && head->kind == L) return true;
    return of_side ==
           (IsFetch(event) ? RunFolder::kMostFetches : RunFolder::kMostData);
  }

  void Finish() {
    if (events_.empty()) return;
    PageRun run;
    for (const TraceEvent& event : events_) {
      const bool is_head =
          run.head_count == 0 ||
          (run.head_count == 1 && IsFetch(run.heads[0]) != IsFetch(event));
      if (is_head) {
        run.heads[run.head_count++] = event;
        if (run.head_count == 2) std::swap(run.between, run.after);
      } else {
        ++run.after[static_cast<size_t>(event.kind)];
      }
    }
    runs_.push_back(run);
    events_.clear();
  }

  std::vector<TraceEvent> events_;  // of the run in progress
  std::vector<PageRun> runs_;
};

// Streams that stay on pages for longer and shorter, of every kind of event.
TEST(RunFolder, AgreesWithItsNaiveTwin) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    const uint64_t stay = uint64_t{1} << rng.Below(12);
    const bool stores = rng.Below(2) == 0;
    const uint64_t spanning = 1 + rng.Below(2) * 500;
    std::vector<TraceEvent> events;
    TraceEvent fetch = At(F, 1);
    TraceEvent data = At(L, 9);
    for (int i = 0; i < 20000; ++i) {
      if (rng.Below(stay) == 0) fetch = At(F, 1 + rng.Below(3));
      if (rng.Below(stay) == 0) data = At(L, 1 + rng.Below(3));
      TraceEvent event = rng.Below(3) == 0 ? data : fetch;
      if (event.kind == L && (stores || rng.Below(100) == 0)) {
        event.kind = static_cast<EventKind>(1 + rng.Below(3));
      }
      if (rng.Below(1000) < spanning) event.size = 4090;
      event.thread = rng.Below(2000) == 0 ? 1 : 0;
      events.push_back(event);
    }
    ASSERT_TRUE(Fold(events) == NaiveFolder().Fold(events)) << seed;
  }
}

TEST(RunFolder, AgreesWithItsNaiveTwinAtItsLimits) {
  for (const EventKind kind : {F, L, S, M}) {
    for (const int count : {255, 256, 257, 4095, 4096, 4097, 9000}) {
      std::vector<TraceEvent> events(static_cast<size_t>(count), At(kind, 1));
      events.insert(events.begin() + 100, At(kind == F ? L : F, 1));
      ASSERT_TRUE(Fold(events) == NaiveFolder().Fold(events)) << count;
    }
  }
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
