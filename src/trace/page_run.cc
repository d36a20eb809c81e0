// SPDX-License-Identifier: Apache-2.0
//
// Most events repeat: they are on the page of their side's head, and only a
// count grows. Fold finds that out with one comparison of pages, and adds to a
// word that holds all counts; the rules are in Joins and AddHead.
#include "lookaside/trace/page_run.h"

#include <bit>

namespace lookaside {
namespace {

constexpr unsigned kCountBits = 16;

// 0 instruction, 1 data.
size_t SideOf(EventKind kind) { return kind == EventKind::kFetch ? 0 : 1; }

bool Writes(EventKind kind) {
  return kind == EventKind::kStore || kind == EventKind::kModify;
}

uint64_t PageOf(const TraceEvent& event) {
  return event.address.value() >> kPageShift;
}

bool SpansPages(const TraceEvent& event) {
  return (event.address.value() & (kPageBytes - 1)) + event.size > kPageBytes;
}

// The counts in a word, that of the lowest kind lowest.
std::array<uint16_t, kAccessKinds> Unpack(uint64_t counts) {
  static_assert(std::endian::native == std::endian::little);
  return std::bit_cast<std::array<uint16_t, kAccessKinds>>(counts);
}

}  // namespace

static_assert(RunFolder::kMostFetches >> kCountBits == 0);
static_assert(RunFolder::kMostData >> kCountBits == 0);

// Whether `event`, which is no repeat and spans no pages, may be the other head
// of the run in progress.
inline bool RunFolder::Joins(const TraceEvent& event) const {
  return run_.head_count == 1 && event.thread == run_.heads[0].thread &&
         SideOf(event.kind) != SideOf(run_.heads[0].kind);
}

inline void RunFolder::AddHead(const TraceEvent& event) {
  run_.heads[run_.head_count++] = event;
  run_.between = Unpack(repeats_);  // none before the first
  repeats_ = 0;
  --room_[SideOf(event.kind)];
  const uint64_t page = PageOf(event);
  if (event.kind == EventKind::kFetch) {
    repeat_page_[0] = page;
    return;
  }
  const uint64_t store_page = Writes(event.kind) ? page : kNoPage;
  repeat_page_[static_cast<size_t>(EventKind::kLoad)] = page;
  repeat_page_[static_cast<size_t>(EventKind::kStore)] = store_page;
  repeat_page_[static_cast<size_t>(EventKind::kModify)] = store_page;
}

// Of a run that has a head. Field by field: runs are short, and most of what
// folding costs is here.
inline void RunFolder::End(std::vector<PageRun>& runs) {
  run_.after = Unpack(repeats_);
  runs.push_back(run_);
  run_.heads[1] = TraceEvent();
  run_.head_count = 0;
  repeats_ = 0;
  repeat_page_.fill(kNoPage);
  room_ = {kMostFetches, kMostData};
}

void RunFolder::Finish(std::vector<PageRun>& runs) {
  if (run_.head_count > 0) End(runs);
}

size_t RunFolder::Fold(std::span<const TraceEvent> events,
                       std::vector<PageRun>& runs) {
  for (size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& event = events[i];
    const auto kind = static_cast<size_t>(event.kind);
    const bool spans = SpansPages(event);
    uint32_t& room = room_[SideOf(event.kind)];
    if (PageOf(event) == repeat_page_[kind] && !spans && room > 0 &&
        event.thread == run_.heads[0].thread) {
      --room;
      repeats_ += uint64_t{1} << (kCountBits * kind);
      continue;
    }
    if (event.kind == EventKind::kCall) {
      Finish(runs);
      return i;
    }
    if (run_.head_count > 0 && (spans || !Joins(event))) End(runs);
    AddHead(event);
    if (spans) End(runs);
  }
  return events.size();
}

}  // namespace lookaside
