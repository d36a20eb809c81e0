// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

CpuId CpuOfThread(uint32_t thread) { return CpuId(thread * 2); }

// All events ever pushed, looked through.
class Twin {
 public:
  void Push(const std::vector<TraceEvent>& events) {
    events_.insert(events_.end(), events.begin(), events.end());
  }
  bool UsesAgain(CpuId cpu, VirtPage page, PageSize size, uint64_t from,
                 uint64_t until) const {
    for (uint64_t i = from; i < std::min(until, events_.size()); ++i) {
      const TraceEvent& event = events_[i];
      if (event.kind == EventKind::kCall) continue;
      if (CpuOfThread(event.thread) != cpu) continue;
      const uint64_t first = event.address.value() >> kPageShift;
      const uint64_t last =
          (event.address.value() + event.size - 1) >> kPageShift;
      if (first < page.value() + PagesIn(size) && page.value() <= last) {
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<TraceEvent> events_;
};

std::vector<TraceEvent> RandomEvents(Rng& rng, std::vector<MemoryCall>& calls) {
  std::vector<TraceEvent> events(1 + rng.Below(40));
  for (TraceEvent& event : events) {
    event.thread = static_cast<uint32_t>(rng.Below(3));
    event.kind = static_cast<EventKind>(rng.Below(5));
    if (event.kind == EventKind::kCall) {
      event.address = VirtAddr(calls.size());
      calls.emplace_back().length = rng.Next();
      continue;
    }
    event.address = VirtAddr(rng.Below(uint64_t{3} << 21));
    event.size = static_cast<uint16_t>(1 + rng.Below(5000));
  }
  return events;
}

TEST(ReadAhead, KnowsWhatALookThroughAllEventsFinds) {
  constexpr uint64_t kForesight = 100;
  Rng rng(5);
  ReadAhead ahead;
  Twin twin;
  uint64_t popped = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<MemoryCall> calls;
    const std::vector<TraceEvent> events = RandomEvents(rng, calls);
    ahead.Push(1, events, calls);
    twin.Push(events);
    while (ahead.Ready(kForesight)) {
      const size_t size = ahead.Front().events.size();
      // Now and then nobody asks.
      for (uint64_t i = rng.Below(3) * size; i < size; i += 1 + rng.Below(9)) {
        const uint64_t from = popped + i;
        ahead.Learn(from + kForesight, [](size_t trace, uint32_t thread) {
          EXPECT_EQ(trace, 1u);
          return CpuOfThread(thread);
        });
        const auto page_size = static_cast<PageSize>(rng.Below(2));
        const VirtPage page =
            AlignDown(VirtPage(rng.Below(3 * 512)), page_size);
        const CpuId cpu(static_cast<uint32_t>(rng.Below(6)));
        ASSERT_EQ(ahead.UsesAgain(cpu, page, page_size, from),
                  twin.UsesAgain(cpu, page, page_size, from, from + kForesight))
            << round << " " << page.value() << " " << from;
      }
      popped += size;
      ahead.Pop();
    }
  }
  EXPECT_GT(popped, 5000u);
}

TEST(ReadAhead, GivesBackWhatItWasGivenInOrder) {
  Rng rng(6);
  ReadAhead ahead;
  std::vector<ReadAhead::Piece> given;
  for (size_t i = 0; i < 50; ++i) {
    // Pieces of one buffer name calls by their index in all of it.
    std::vector<MemoryCall> calls(3);
    const std::vector<TraceEvent> events = RandomEvents(rng, calls);
    ahead.Push(i % 2, events, calls);
    given.push_back({i % 2, events, calls});
  }
  for (const ReadAhead::Piece& piece : given) {
    ASSERT_FALSE(ahead.empty());
    const ReadAhead::Piece back = ahead.Front();
    ahead.Pop();
    EXPECT_EQ(back.trace, piece.trace);
    ASSERT_EQ(back.events.size(), piece.events.size());
    for (size_t i = 0; i < back.events.size(); ++i) {
      const TraceEvent& event = piece.events[i];
      if (event.kind != EventKind::kCall) {
        EXPECT_EQ(back.events[i], event);
      } else {
        EXPECT_EQ(back.calls.at(back.events[i].address.value()),
                  piece.calls.at(event.address.value()));
      }
    }
  }
  EXPECT_TRUE(ahead.empty());
}

}  // namespace
}  // namespace lookaside
