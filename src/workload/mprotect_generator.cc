// SPDX-License-Identifier: Apache-2.0
#include "lookaside/workload/mprotect_generator.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"

namespace lookaside {
namespace {

// Where the region is: any place of a program's half would do.
constexpr uint64_t kRegionStart = uint64_t{1} << 46;
// So that a generator needs little memory.
constexpr uint64_t kTouchesAtOnce = 4096;

}  // namespace

MprotectGenerator::MprotectGenerator(std::string name,
                                     const MprotectConfig& config,
                                     uint64_t seed)
    : name_(std::move(name)), config_(config), seed_(seed) {
  LOOKASIDE_CHECK(config.region % kPageBytes == 0 && config.pages > 0 &&
                  config.pages <= config.region / kPageBytes &&
                  config.reads > 0);
  if (config_.calls == 0) config_.calls = blocks();
  rounds_.resize(config_.readers + 1);
  for (uint32_t thread = 0; thread < rounds_.size(); ++thread) {
    // All read at the same offsets, unless each draws its own.
    rounds_[thread].rng = Rng(seed + (config_.redraw ? thread : 0));
    Draw(rounds_[thread], thread);
  }
  if (config_.sparse && !config_.redraw) FindUsedPages();
}

void MprotectGenerator::FindUsedPages() {
  for (const TraceEvent& load : rounds_[0].loads) {
    used_pages_.push_back((load.address.value() - kRegionStart) / kPageBytes);
  }
  const uint64_t called = std::min(config_.calls, blocks()) * config_.pages;
  for (uint64_t page = 0; page < called; ++page) used_pages_.push_back(page);
  std::ranges::sort(used_pages_);
  const auto again = std::ranges::unique(used_pages_);
  used_pages_.erase(again.begin(), again.end());
}

uint64_t MprotectGenerator::pages_to_touch() const {
  return used_pages_.empty() ? config_.region / kPageBytes : used_pages_.size();
}

// Whether the set-up is over.
bool MprotectGenerator::settled() const { return phase_ > Phase::kTouch; }

uint64_t MprotectGenerator::blocks() const {
  return config_.region / kPageBytes / config_.pages;
}

void MprotectGenerator::Draw(Round& round, uint32_t thread) {
  round.loads.clear();
  for (uint64_t i = 0; i < config_.reads; ++i) {
    round.loads.push_back(
        {.address = VirtAddr(kRegionStart + round.rng.Below(config_.region)),
         .size = 1,
         .kind = EventKind::kLoad,
         .thread = thread});
  }
}

ThreadStep MprotectGenerator::NextReads(uint32_t thread) {
  const Round& round = rounds_[thread];
  return {.kind = ThreadStep::Kind::kAccesses,
          .events = std::span(round.loads).subspan(round.next)};
}

void MprotectGenerator::PlayedReads(uint32_t thread, size_t events) {
  Round& round = rounds_[thread];
  round.next += events;
  if (round.next < round.loads.size()) return;
  round.next = 0;
  if (config_.redraw) Draw(round, thread);
}

// The next pages of the set-up.
void MprotectGenerator::Touch() {
  touches_.clear();
  next_touch_ = 0;
  const uint64_t left = pages_to_touch() - done_;
  for (uint64_t i = 0; i < std::min(left, kTouchesAtOnce); ++i) {
    const uint64_t page =
        used_pages_.empty() ? done_ + i : used_pages_[done_ + i];
    touches_.push_back({.address = VirtAddr(kRegionStart + page * kPageBytes),
                        .size = 8,
                        .kind = EventKind::kStore,
                        .thread = 0});
  }
}

MemoryCall MprotectGenerator::Mprotect() const {
  const uint64_t block = done_ % blocks();
  const bool narrows = done_ / blocks() % 2 == 0;
  MemoryCall call;
  call.kind = CallKind::kMprotect;
  call.length = config_.pages * kPageBytes;
  call.address = VirtAddr(kRegionStart + block * call.length);
  call.prot = narrows ? kProtRead : kProtRead | kProtWrite;
  return call;
}

MemoryCall MprotectGenerator::Call() const {
  MemoryCall call;
  switch (phase_) {
    case Phase::kMap:
      call.kind = CallKind::kMmap;
      call.length = config_.region;
      call.prot = kProtRead | kProtWrite;
      call.flags = kMapShared | kMapAnonymous;
      call.result = VirtAddr(kRegionStart);
      return call;
    case Phase::kClone:
      call.kind = CallKind::kClone;
      call.flags = kCloneFlagVm | kCloneFlagThread;
      call.child = static_cast<uint32_t>(done_ + 1);
      return call;
    case Phase::kProtect:
      return Mprotect();
    default:
      break;
  }
  LOOKASIDE_CHECK(false);
}

ThreadStep MprotectGenerator::Next(uint32_t thread) {
  if (thread != 0) {
    if (!settled()) return {.kind = ThreadStep::Kind::kWaits};
    return phase_ == Phase::kEnd || thread >= rounds_.size()
               ? ThreadStep{}
               : NextReads(thread);
  }
  switch (phase_) {
    case Phase::kTouch:
      if (next_touch_ == touches_.size()) Touch();
      return {.kind = ThreadStep::Kind::kAccesses,
              .events = std::span(touches_).subspan(next_touch_)};
    case Phase::kRead:
      return NextReads(0);
    case Phase::kEnd:
      return {};
    default:
      break;
  }
  call_ = Call();
  return {.kind = ThreadStep::Kind::kCall, .call = &call_};
}

bool MprotectGenerator::Played(uint32_t thread, size_t events) {
  played_.events += events;
  played_.accesses += events;
  if (thread != 0) {
    PlayedReads(thread, events);
    return false;
  }
  if (phase_ == Phase::kTouch) {
    next_touch_ += events;
    done_ += events;
    if (done_ < pages_to_touch()) return false;
    done_ = 0;
    phase_ = Phase::kProtect;
    return true;
  }
  PlayedReads(0, events);
  if (rounds_[0].next != 0 || events == 0) return false;
  phase_ = done_ < config_.calls ? Phase::kProtect : Phase::kEnd;
  return false;
}

void MprotectGenerator::Returned(uint32_t thread) {
  LOOKASIDE_CHECK(thread == 0);
  ++played_.calls[static_cast<size_t>(call_.kind)];
  ++done_;
  switch (phase_) {
    case Phase::kMap:
      phase_ = config_.readers > 0 ? Phase::kClone : Phase::kTouch;
      done_ = 0;
      return;
    case Phase::kClone:
      if (done_ < config_.readers) return;
      phase_ = Phase::kTouch;
      done_ = 0;
      return;
    case Phase::kProtect:
      if (config_.readers == 0) {
        phase_ = Phase::kRead;
      } else if (done_ == config_.calls) {
        phase_ = Phase::kEnd;
      }
      return;
    default:
      LOOKASIDE_CHECK(false);
  }
}

// One step of the thread whose turn it is, as far as there is room.
size_t MprotectGenerator::ReadStep(std::span<TraceEvent> events) {
  const ThreadStep step = Next(turn_);
  if (step.kind == ThreadStep::Kind::kCall) {
    events[0] = {.address = VirtAddr(read_calls_.size()),
                 .kind = EventKind::kCall,
                 .thread = turn_};
    read_calls_.push_back(*step.call);
    const bool protects = step.call->kind == CallKind::kMprotect;
    Returned(turn_);
    if (protects && config_.readers > 0) turn_ = 1;
    turn_left_ = config_.reads;
    return 1;
  }
  size_t n = std::min(events.size(), step.events.size());
  if (turn_ != 0) n = std::min<uint64_t>(n, turn_left_);
  std::copy_n(step.events.begin(), n, events.begin());
  Played(turn_, n);
  if (turn_ == 0) return n;
  turn_left_ -= n;
  if (turn_left_ == 0) {
    turn_ = turn_ == config_.readers ? 0 : turn_ + 1;
    turn_left_ = config_.reads;
  }
  return n;
}

size_t MprotectGenerator::Read(std::span<TraceEvent> events) {
  LOOKASIDE_DCHECK(!events.empty());
  read_calls_.clear();
  size_t n = 0;
  while (n < events.size() && phase_ != Phase::kEnd)
    n += ReadStep(events.subspan(n));
  return n;
}

TraceInfo MprotectGenerator::info() const {
  TraceInfo info = played_;
  info.name = name_;
  info.format = "generator";
  Digest digest;
  digest.AddBytes(name_.data(), name_.size());
  digest.Add(seed_);
  info.xxh3 = digest.Finish().ToString();
  info.threads = static_cast<uint32_t>(config_.readers + 1);
  info.processes = 1;
  info.setup_accesses = pages_to_touch();
  return info;
}

}  // namespace lookaside
