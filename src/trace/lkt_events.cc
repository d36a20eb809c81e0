// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lkt_events.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/trace/lkt_format.h"

namespace lookaside {
namespace {

enum Tag : uint64_t { kThreadTag = 0, kCallTag = 1 };

constexpr unsigned kKindBits = 2;
constexpr uint64_t kKindMask = (1u << kKindBits) - 1;
// More of a block's marks than calls make in any program.
constexpr size_t kMostMarkBytes = size_t{16} << 20;

void AppendCall(std::string& bytes, const MemoryCall& call) {
  bytes.push_back(static_cast<char>(call.kind));
  const auto is_child = call.child != MemoryCall::kNoThread;
  AppendVarint(bytes, call.process);
  AppendVarint(bytes, ZigZag(static_cast<uint64_t>(int64_t{call.error})));
  AppendVarint(bytes, call.address.value());
  AppendVarint(bytes, call.length);
  AppendVarint(bytes, call.new_address.value());
  AppendVarint(bytes, call.new_length);
  AppendVarint(bytes, call.offset);
  AppendVarint(bytes, call.result.value());
  AppendVarint(bytes, call.prot);
  AppendVarint(bytes, call.flags);
  AppendVarint(bytes, ZigZag(static_cast<uint64_t>(int64_t{call.advice})));
  AppendVarint(bytes, ZigZag(static_cast<uint64_t>(int64_t{call.fd})));
  AppendVarint(bytes, is_child ? uint64_t{call.child} + 1 : 0);
}

int32_t TakeSigned(ByteReader& reader) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  return static_cast<int32_t>(UnZigZag(reader.VarintUpTo(kMost)));
}

uint32_t TakeUnsigned(ByteReader& reader) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  return static_cast<uint32_t>(reader.VarintUpTo(kMost));
}

MemoryCall TakeCall(ByteReader& reader, uint32_t thread) {
  MemoryCall call;
  call.thread = thread;
  const auto kind = reader.Fixed<uint8_t>();
  // Of a kind that is not known: fails as a number that is too large does.
  if (kind >= kCallKinds) reader.Bytes(std::numeric_limits<uint64_t>::max());
  call.kind = static_cast<CallKind>(kind);
  call.process = TakeUnsigned(reader);
  call.error = TakeSigned(reader);
  call.address = VirtAddr(reader.Varint());
  call.length = reader.Varint();
  call.new_address = VirtAddr(reader.Varint());
  call.new_length = reader.Varint();
  call.offset = reader.Varint();
  call.result = VirtAddr(reader.Varint());
  call.prot = TakeUnsigned(reader);
  call.flags = TakeUnsigned(reader);
  call.advice = TakeSigned(reader);
  call.fd = TakeSigned(reader);
  const uint64_t child = reader.VarintUpTo(MemoryCall::kNoThread);
  call.child =
      child == 0 ? MemoryCall::kNoThread : static_cast<uint32_t>(child - 1);
  return call;
}

// Bits that keep an address from being canonical for five levels.
constexpr uint64_t NotCanonical(uint64_t address) {
  constexpr unsigned kUnused = 64 - 57;
  const auto extended = static_cast<uint64_t>(
      static_cast<int64_t>(address << kUnused) >> kUnused);
  return address ^ extended;
}

}  // namespace

bool LktEventEncoder::full() const {
  return events_ >= kLktMostEvents || shapes_.size() + 1 >= kMostShapes ||
         marks_.size() >= kMostMarkBytes;
}

void LktEventEncoder::Mark(uint64_t tag) {
  AppendVarint(marks_, std::exchange(since_mark_, 0));
  AppendVarint(marks_, tag);
  ++mark_count_;
}

void LktEventEncoder::RunThread(uint32_t thread) {
  if (thread == thread_) return;
  EndShape();
  thread_ = thread;
  Mark(kThreadTag);
  AppendVarint(marks_, thread);
}

void LktEventEncoder::Add(const TraceEvent& event,
                          std::span<const MemoryCall> calls) {
  LOOKASIDE_DCHECK(!full());
  ++events_;
  RunThread(event.thread);
  if (event.kind == EventKind::kCall) {
    const MemoryCall& call = calls[event.address.value()];
    LOOKASIDE_DCHECK(call.thread == event.thread);
    EndShape();
    Mark(kCallTag);
    AppendCall(marks_, call);
    return;
  }
  ++since_mark_;
  const uint64_t address = event.address.value();
  const bool fetch = event.kind == EventKind::kFetch;
  if (!has_fetch_ || item_count_ == kMostItems ||
      (fetch && address != next_fetch_)) {
    EndShape();
  }
  if (fetch) {
    if (item_count_ == 0) first_fetch_ = address;
    has_fetch_ = true;
    next_fetch_ = address + event.size;
  } else {
    addresses_.push_back(address);
  }
  AppendVarint(items_, uint64_t{event.size} << kKindBits |
                           static_cast<uint64_t>(event.kind));
  ++item_count_;
}

void LktEventEncoder::EndShape() {
  if (item_count_ == 0) return;
  std::string key = items_;
  if (has_fetch_) AppendFixed(key, first_fetch_);
  const auto [place, is_new] = shapes_.try_emplace(std::move(key));
  Shape& shape = place->second;
  if (is_new) {
    shape.number = static_cast<uint32_t>(shapes_.size() - 1);
    AppendVarint(definitions_, item_count_);
    definitions_ += items_;
    if (has_fetch_) {
      AppendVarint(definitions_, ZigZag(first_fetch_ - last_fetch_));
      last_fetch_ = first_fetch_;
    }
  }
  AppendFixed(numbers_, static_cast<uint16_t>(shape.number));
  for (size_t i = 0; i < addresses_.size(); ++i) {
    const uint64_t before = is_new ? last_data_ : shape.last[i];
    AppendVarint(differences_, ZigZag(addresses_[i] - before));
    last_data_ = addresses_[i];
  }
  shape.last.assign(addresses_.begin(), addresses_.end());
  items_.clear();
  addresses_.clear();
  item_count_ = 0;
  has_fetch_ = false;
}

std::string LktEventEncoder::Take() {
  EndShape();
  std::string raw;
  AppendVarint(raw, shapes_.size());
  AppendText(raw, definitions_);
  AppendText(raw, numbers_);
  AppendText(raw, differences_);
  AppendVarint(raw, mark_count_);
  AppendText(raw, marks_);
  *this = LktEventEncoder();
  return raw;
}

bool LktEventDecoder::Begin(std::string raw, uint32_t events) {
  raw_ = std::move(raw);
  ByteReader reader(raw_);
  const uint64_t shapes = reader.VarintUpTo(kMostShapes);
  ByteReader definitions(reader.Text());
  const std::string_view numbers = reader.Text();
  const std::string_view differences = reader.Text();
  marks_left_ = reader.Varint();
  marks_ = ByteReader(reader.Text());
  number_ = numbers.data();
  numbers_end_ = number_ + numbers.size();
  difference_ = differences.data();
  differences_end_ = difference_ + differences.size();
  events_left_ = events;
  thread_ = 0;
  last_data_ = 0;
  not_canonical_ = 0;
  spilled_begin_ = spilled_end_ = 0;
  ok_ = reader.ok() && reader.rest().empty() && numbers.size() % 2 == 0 &&
        DecodeDefinitions(definitions, shapes);
  if (ok_) BeginMark();
  return ok_;
}

bool LktEventDecoder::DecodeDefinitions(ByteReader& reader, uint64_t count) {
  shapes_.clear();
  items_.clear();
  places_.clear();
  uint64_t last_fetch = 0;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    Shape shape{static_cast<uint32_t>(items_.size()),
                static_cast<uint32_t>(places_.size())};
    shape.items = static_cast<uint8_t>(reader.VarintUpTo(kMostItems));
    // Each is used once at least: no more of them than events.
    if (shape.items == 0 || items_.size() + shape.items > events_left_) {
      return false;
    }
    for (uint8_t place = 0; place < shape.items; ++place) {
      const uint64_t item = reader.VarintUpTo(
          (uint64_t{std::numeric_limits<uint16_t>::max()} << kKindBits) |
          kKindMask);
      TraceEvent event;
      event.size = static_cast<uint16_t>(item >> kKindBits);
      event.kind = static_cast<EventKind>(item & kKindMask);
      if (event.size == 0) return false;
      if (event.kind != EventKind::kFetch) places_.push_back(place);
      items_.push_back(event);
    }
    shape.data = static_cast<uint8_t>(places_.size() - shape.first_data);
    const std::span<TraceEvent> items =
        std::span(items_).subspan(shape.first_item);
    if (items.front().kind == EventKind::kFetch) {
      last_fetch += UnZigZag(reader.Varint());
      uint64_t address = last_fetch;
      for (TraceEvent& item : items) {
        if (item.kind != EventKind::kFetch) continue;
        item.address = VirtAddr(address);
        not_canonical_ |= NotCanonical(address);
        address += item.size;
      }
    } else if (shape.items != 1) {
      return false;
    }
    shapes_.push_back(shape);
  }
  last_.assign(places_.size(), 0);
  return reader.ok() && reader.rest().empty() && not_canonical_ == 0;
}

// How many events come before the next mark.
void LktEventDecoder::BeginMark() {
  before_mark_ =
      marks_left_ == 0 ? std::numeric_limits<uint64_t>::max() : marks_.Varint();
}

size_t LktEventDecoder::TakeMark(TraceEvent& event,
                                 std::vector<MemoryCall>& calls) {
  --marks_left_;
  const uint64_t tag = marks_.Varint();
  size_t taken = 0;
  if (tag == kThreadTag) {
    thread_ = TakeUnsigned(marks_);
  } else if (tag == kCallTag) {
    event = {VirtAddr(calls.size()), 0, EventKind::kCall, 0, thread_};
    calls.push_back(TakeCall(marks_, thread_));
    --events_left_;
    taken = 1;
  }
  if (tag > kCallTag || !marks_.ok()) {
    if (taken != 0) calls.pop_back();
    return Fail();
  }
  BeginMark();
  return taken;
}

size_t LktEventDecoder::TakeSpilled(std::span<TraceEvent> events) {
  const size_t count = std::min(events.size(), spilled_end_ - spilled_begin_);
  std::copy_n(&spilled_[spilled_begin_], count, events.begin());
  spilled_begin_ += count;
  return count;
}

size_t LktEventDecoder::Read(std::span<TraceEvent> events,
                             std::vector<MemoryCall>& calls) {
  size_t done = 0;
  while (ok_ && done < events.size()) {
    if (spilled_begin_ != spilled_end_) {
      done += TakeSpilled(events.subspan(done));
    } else if (events_left_ == 0) {
      if (!AllTaken()) Fail();
      break;
    } else if (before_mark_ == 0) {
      done += TakeMark(events[done], calls);
    } else if (events.size() - done >= kMostItems) {
      done += Decode(events.subspan(done));
    } else {
      spilled_begin_ = 0;
      spilled_end_ = DecodeShape(spilled_.data());
    }
  }
  if (not_canonical_ != 0) Fail();
  return ok_ ? done : 0;
}

bool LktEventDecoder::AllTaken() const {
  return number_ == numbers_end_ && difference_ == differences_end_ &&
         marks_left_ == 0 && marks_.ok() && marks_.rest().empty();
}

size_t LktEventDecoder::Decode(std::span<TraceEvent> events) {
  size_t done = 0;
  while (events_left_ > 0 && before_mark_ > 0 &&
         events.size() - done >= kMostItems) {
    const size_t items = DecodeShape(&events[done]);
    if (items == 0) return 0;
    done += items;
  }
  return done;
}

inline uint64_t LktEventDecoder::TakeDifference() {
  if (difference_ != differences_end_ && *difference_ >= 0) {
    return static_cast<uint8_t>(*difference_++);
  }
  ByteReader reader(
      {difference_, static_cast<size_t>(differences_end_ - difference_)});
  const uint64_t value = reader.Varint();
  if (!reader.ok()) ok_ = false;
  difference_ = differences_end_ - reader.rest().size();
  return value;
}

inline size_t LktEventDecoder::DecodeShape(TraceEvent* to) {
  if (number_ == numbers_end_) return Fail();
  const unsigned number = static_cast<uint8_t>(number_[0]) |
                          unsigned{static_cast<uint8_t>(number_[1])} << 8;
  number_ += 2;
  if (number >= shapes_.size()) return Fail();
  Shape& shape = shapes_[number];
  if (shape.items > before_mark_ || shape.items > events_left_) return Fail();
  const TraceEvent* const items = &items_[shape.first_item];
  for (uint8_t i = 0; i < shape.items; ++i) {
    to[i] = items[i];
    to[i].thread = thread_;
  }
  const uint8_t* const places = places_.data() + shape.first_data;
  uint64_t* const last = last_.data() + shape.first_data;
  for (uint8_t i = 0; i < shape.data; ++i) {
    const uint64_t before = shape.used ? last[i] : last_data_;
    const uint64_t address = before + UnZigZag(TakeDifference());
    last[i] = last_data_ = address;
    not_canonical_ |= NotCanonical(address);
    to[places[i]].address = VirtAddr(address);
  }
  shape.used = true;
  before_mark_ -= shape.items;
  events_left_ -= shape.items;
  return ok_ ? shape.items : 0;
}

}  // namespace lookaside
