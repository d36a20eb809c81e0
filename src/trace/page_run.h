// SPDX-License-Identifier: Apache-2.0
//
// Folding: consecutive events that no TLB can tell apart become one run.
//
// A run is a stretch of one thread's events in which each side (instruction,
// data) stays on the page it touched first in the run. Its first access of
// each side is kept as a head; whatever follows is counts, because a hit on
// the entry that its array used last changes nothing in any array. Counts
// before and after the second head are kept apart: if that one faults, the
// entries of its page are dropped, and they may be the first head's too.
//
// A run ends
//   1. before an access to another page than its side's,
//   2. before the first store (or modify) after a data head that was a load:
//      that store may need a dirty assist, so it heads a run of its own,
//   3. after kMostFetches instruction fetches, or kMostData data events,
//   4. where the recording switches threads,
//   5. before a memory-management call, which is in no run: whoever applies it
//      finds all accesses before it in runs, and none after it.
// An event that spans pages is a run of its own. Runs depend on the stream
// alone, not on how it was cut into buffers.
//
// A run is one step of time. Exact as long as no fault within a run is a
// denial: should the second head's fault drop the first head's entry too, the
// first repeat looks again, and if it faulted as well the order of what is
// left would matter. Not exact where the order of fetches and data
// accesses within a run matters: where one first-level array serves both
// sides, and where a fill may drop first-level entries (tlb.inclusion =
// "inclusive"). Machine::folding_is_exact tells.
//
//   RunFolder folder;
//   std::vector<PageRun> runs;
//   while (!events.empty()) {                  // as often as there are buffers
//     events = events.subspan(folder.Fold(events, runs));
//     if (events.empty()) break;
//     ...                                      // play runs, apply the call
//     events = events.subspan(1);
//   }
//   folder.Finish(runs);                       // at the end
#ifndef LOOKASIDE_TRACE_PAGE_RUN_H_
#define LOOKASIDE_TRACE_PAGE_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lookaside/trace/trace_event.h"

namespace lookaside {

struct PageRun {
  // The first event of each side, in the order of the stream.
  std::array<TraceEvent, 2> heads{};
  uint8_t head_count = 0;
  // Further events by EventKind, each on the page of its side's head: those
  // between the two heads, and those after the last.
  std::array<uint16_t, kAccessKinds> between{};
  std::array<uint16_t, kAccessKinds> after{};

  friend bool operator==(const PageRun&, const PageRun&) = default;
};

// How many events the run is of.
inline size_t EventsOf(const PageRun& run) {
  size_t events = run.head_count;
  for (const uint16_t n : run.between) events += n;
  for (const uint16_t n : run.after) events += n;
  return events;
}

class RunFolder {
 public:
  static constexpr uint16_t kMostFetches = 256;
  static constexpr uint16_t kMostData = 4096;

  // Appends the runs that `events` up to the first call complete, and returns
  // how many events that were; if there is a call, the run in progress ends.
  [[nodiscard]] size_t Fold(std::span<const TraceEvent> events,
                            std::vector<PageRun>& runs);

  // Ends the run in progress.
  void Finish(std::vector<PageRun>& runs);

 private:
  // Of no event: no address has bits left of 52 after the shift.
  static constexpr uint64_t kNoPage = ~uint64_t{0};
  static constexpr size_t kKinds = kAccessKinds + 1;  // a call is of no page

  void AddHead(const TraceEvent& event);
  void End(std::vector<PageRun>& runs);
  bool Joins(const TraceEvent& event) const;

  PageRun run_;
  // The page on which an event of the kind is one more of the run: that of its
  // side's head; kNoPage where it would be a head or end the run, as a store
  // after a data head that was a load does.
  std::array<uint64_t, kKinds> repeat_page_{kNoPage, kNoPage, kNoPage, kNoPage,
                                            kNoPage};
  uint64_t repeats_ = 0;  // since the last head: 16 bits for each kind
  std::array<uint32_t, 2> room_{kMostFetches, kMostData};  // by side
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_PAGE_RUN_H_
