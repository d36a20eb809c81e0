// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/page_run.h"

namespace lookaside {
namespace {

// Which side an event is on: 0 instruction, 1 data.
size_t SideOf(const TraceEvent& event) {
  return event.kind == EventKind::kFetch ? 0 : 1;
}

bool Writes(const TraceEvent& event) {
  return event.kind == EventKind::kStore || event.kind == EventKind::kModify;
}

bool SpansPages(const TraceEvent& event) {
  return (event.address.value() & (kPageBytes - 1)) + event.size > kPageBytes;
}

}  // namespace

// Whether `event`, which spans no pages, may be part of the current run.
bool RunFolder::Joins(const TraceEvent& event, uint64_t page) const {
  if (run_.head_count == 0 || event.thread != run_.heads[0].thread) {
    return false;
  }
  const size_t side = SideOf(event);
  if (side == 0 ? fetches_ == kMostFetches : data_ == kMostData) return false;
  if (page_[side] == kNoPage) return true;
  if (page_[side] != page) return false;
  return data_dirty_ || !Writes(event);
}

void RunFolder::Add(const TraceEvent& event, uint64_t page) {
  const size_t side = SideOf(event);
  ++(side == 0 ? fetches_ : data_);
  if (page_[side] != kNoPage) {
    ++run_.after[static_cast<size_t>(event.kind)];
    return;
  }
  run_.between = run_.after;
  run_.after = {};
  page_[side] = page;
  if (side == 1) data_dirty_ = Writes(event);
  run_.heads[run_.head_count++] = event;
}

void RunFolder::Finish(std::vector<PageRun>& runs) {
  if (run_.head_count == 0) return;
  runs.push_back(run_);
  run_ = PageRun();
  page_ = {kNoPage, kNoPage};
  data_dirty_ = false;
  fetches_ = 0;
  data_ = 0;
}

size_t RunFolder::Fold(std::span<const TraceEvent> events,
                       std::vector<PageRun>& runs) {
  for (size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& event = events[i];
    if (event.kind == EventKind::kCall) {
      Finish(runs);
      return i;
    }
    const uint64_t page = event.address.value() >> kPageShift;
    if (SpansPages(event)) {
      Finish(runs);
      run_.heads[0] = event;
      run_.head_count = 1;
      Finish(runs);
      continue;
    }
    if (!Joins(event, page)) Finish(runs);
    Add(event, page);
  }
  return events.size();
}

}  // namespace lookaside
