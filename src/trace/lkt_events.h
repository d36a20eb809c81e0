// SPDX-License-Identifier: Apache-2.0
//
// The event block of a native trace: a stretch of a trace by columns, each of
// which says what the others do not.
//
// Most of a program's trace repeats: the same stretch of instructions, with the
// same kinds and sizes of accesses, at other data addresses. Such a stretch is
// a *shape*, defined once in a block: a fetch, what follows it as long as each
// further fetch begins where the one before ended, kMostItems events at most;
// or a single data access. A block is its shapes, the sequence of their
// numbers, and for each data access the difference of its address to that of
// the same place of the same shape the last time (the first time: to the data
// access before). Threads and calls are *marks* at which shapes end.
//
// A block can be decoded without any other.
//
//   LktEventEncoder encoder;
//   for (const TraceEvent& event : events) {
//     if (encoder.full()) blocks.push_back(encoder.Take());
//     encoder.Add(event, calls);
//   }
#ifndef LOOKASIDE_TRACE_LKT_EVENTS_H_
#define LOOKASIDE_TRACE_LKT_EVENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/varint.h"

namespace lookaside {

inline constexpr size_t kMostItems = 64;      // of a shape
inline constexpr size_t kMostShapes = 65535;  // of a block

class LktEventEncoder {
 public:
  // Whether what it holds has to be taken first.
  bool full() const;
  // Events held, calls included.
  uint32_t events() const { return events_; }

  // `calls`: those that events of kind kCall name by their index.
  // REQUIRES: !full().
  void Add(const TraceEvent& event, std::span<const MemoryCall> calls);

  // The raw bytes of the block; empties the encoder.
  std::string Take();

 private:
  void EndShape();
  void RunThread(uint32_t thread);
  void Mark(uint64_t tag);

  uint32_t events_ = 0;
  // The shape in progress.
  std::string items_;
  uint32_t item_count_ = 0;
  bool has_fetch_ = false;
  uint64_t first_fetch_ = 0;
  uint64_t next_fetch_ = 0;
  std::vector<uint64_t> addresses_;  // of its data accesses

  struct Shape {
    uint32_t number = 0;
    std::vector<uint64_t> last;  // address of each data access
  };
  absl::flat_hash_map<std::string, Shape> shapes_;
  uint64_t last_fetch_ = 0;  // first fetch of the shape defined last
  uint64_t last_data_ = 0;
  uint64_t since_mark_ = 0;
  uint32_t thread_ = 0;

  std::string definitions_;
  std::string numbers_;  // u16 each
  std::string differences_;
  std::string marks_;
  uint64_t mark_count_ = 0;
};

// Decodes one block after the other. Not thread-safe.
class LktEventDecoder {
 public:
  // Takes a block of `events` events. False if its columns make no sense; what
  // comes after may still.
  bool Begin(std::string raw, uint32_t events);

  // Fills a prefix of `events` and appends what calls they stand for, to be
  // named by their index in `calls`. Returns its length: 0 at the block's end
  // or where it makes no sense, which ok() tells.
  size_t Read(std::span<TraceEvent> events, std::vector<MemoryCall>& calls);

  bool ok() const { return ok_; }

 private:
  struct Shape {
    uint32_t first_item = 0;
    uint32_t first_data = 0;
    uint8_t items = 0;
    uint8_t data = 0;
    bool used = false;
  };

  bool DecodeDefinitions(ByteReader& reader, uint64_t count);
  // Takes the mark that comes next; a call becomes `event` and one of `calls`.
  // Returns how many events that is.
  size_t TakeMark(TraceEvent& event, std::vector<MemoryCall>& calls);
  void BeginMark();
  size_t TakeSpilled(std::span<TraceEvent> events);
  size_t Decode(std::span<TraceEvent> events);
  bool AllTaken() const;
  // One shape to `to`, which has room; its length, or 0 if it makes no sense.
  size_t DecodeShape(TraceEvent* to);
  uint64_t TakeDifference();
  size_t Fail() {
    ok_ = false;
    return 0;
  }

  bool ok_ = true;
  std::string raw_;
  std::vector<Shape> shapes_;
  std::vector<TraceEvent> items_;  // of all shapes; addresses of fetches
  std::vector<uint8_t> places_;    // of data accesses among their items
  std::vector<uint64_t> last_;     // addresses of data accesses
  const char* number_ = nullptr;   // next
  const char* numbers_end_ = nullptr;
  const char* difference_ = nullptr;
  const char* differences_end_ = nullptr;
  ByteReader marks_{{}};
  uint64_t marks_left_ = 0;
  uint64_t before_mark_ = 0;  // events
  uint64_t events_left_ = 0;
  uint32_t thread_ = 0;
  uint64_t last_data_ = 0;
  uint64_t not_canonical_ = 0;  // bits that some address should not have had

  // A shape that did not fit where it was to go.
  std::array<TraceEvent, kMostItems> spilled_;
  size_t spilled_begin_ = 0;
  size_t spilled_end_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LKT_EVENTS_H_
