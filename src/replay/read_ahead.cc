// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/read_ahead.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

constexpr size_t kFewPlaces = 4096;

}  // namespace

ReadAhead::Place ReadAhead::PlaceOf(CpuId cpu, VirtPage page, PageSize size) {
  return {PageIndex(page, size), cpu.value(), static_cast<uint8_t>(size)};
}

void ReadAhead::Push(size_t trace, std::span<const TraceEvent> events,
                     std::span<const MemoryCall> calls) {
  if (events.empty()) return;
  Piece piece{trace, {events.begin(), events.end()}, {}};
  for (TraceEvent& event : piece.events) {
    if (event.kind != EventKind::kCall) continue;
    piece.calls.push_back(calls[event.address.value()]);
    event.address = VirtAddr(piece.calls.size() - 1);
  }
  pushed_ += piece.events.size();
  pieces_.push_back(std::move(piece));
}

void ReadAhead::Learn(uint64_t until, CpuOf cpu_of) {
  Touches last;
  while (noticed_ < until && piece_ < pieces_.size()) {
    const Piece& piece = pieces_[piece_];
    for (; noticed_ < until && event_ < piece.events.size(); ++event_) {
      const TraceEvent& event = piece.events[event_];
      if (event.kind != EventKind::kCall) {
        Note(event, cpu_of(piece.trace, event.thread), last);
      }
      ++noticed_;
    }
    if (event_ < piece.events.size()) break;
    ++piece_;
    event_ = 0;
  }
  for (const Touch& touch : last) Keep(touch);
  DropPast();
}

void ReadAhead::Note(const TraceEvent& event, CpuId cpu, Touches& last) {
  Touch& side = last[event.kind == EventKind::kFetch ? 0 : 1];
  const VirtPage first = PageOf(event.address);
  const VirtPage end = PageOf(VirtAddr(event.address.value() + event.size - 1));
  Note(side, cpu, first);
  for (uint64_t page = first.value() + 1; page <= end.value(); ++page) {
    Note(side, cpu, VirtPage(page));
  }
}

void ReadAhead::Note(Touch& last, CpuId cpu, VirtPage page) {
  if (!last.any || last.cpu != cpu || last.page != page) {
    Keep(last);
    last = {cpu, page, noticed_, true};
  }
  last.event = noticed_;
}

void ReadAhead::Keep(const Touch& touch) {
  if (!touch.any) return;
  for (const PageSize size : kAllPageSizes) {
    uint64_t& use = last_use_[PlaceOf(touch.cpu, touch.page, size)];
    use = std::max(use, touch.event);
  }
}

void ReadAhead::Pop() {
  LOOKASIDE_CHECK(!pieces_.empty());
  popped_ += pieces_.front().events.size();
  pieces_.pop_front();
  if (piece_ > 0) {
    --piece_;
  } else {
    // Nobody asked: what is past need not be noticed.
    noticed_ = popped_;
    event_ = 0;
  }
}

// So that memory is that of the events held.
void ReadAhead::DropPast() {
  if (last_use_.size() <= most_places_) return;
  absl::erase_if(last_use_,
                 [&](const auto& use) { return use.second < popped_; });
  most_places_ = 2 * last_use_.size() + kFewPlaces;
}

bool ReadAhead::UsesAgain(CpuId cpu, VirtPage page, PageSize size,
                          uint64_t from) const {
  const auto use = last_use_.find(PlaceOf(cpu, page, size));
  return use != last_use_.end() && use->second >= from;
}

}  // namespace lookaside
