// SPDX-License-Identifier: Apache-2.0
//
// Events held back until enough of those behind them are there, so that a
// policy can be told which pages a CPU will use again (kernel.flush.policy =
// clairvoyant). Pieces of several traces are held in the order in which they
// will be played; events, calls included, are numbered in that order, from 0.
// What is known never depends on how the events were cut into pieces.
//
//   ahead.Push(trace, events, calls);
//   while (ahead.Ready(foresight)) {
//     Play(ahead.Front());   // at event n: ahead.Learn(n + foresight, cpu_of);
//     ahead.Pop();           //   ahead.UsesAgain(cpu, page, size, n)
//   }
//
// Memory: 16 bytes an event held, and some for each page that they touch. A
// copyable value.
#ifndef LOOKASIDE_REPLAY_READ_AHEAD_H_
#define LOOKASIDE_REPLAY_READ_AHEAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "lookaside/base/address.h"
#include "lookaside/base/ids.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

class ReadAhead {
 public:
  struct Piece {
    size_t trace = 0;
    std::vector<TraceEvent> events;
    std::vector<MemoryCall> calls;  // that its events name
  };

  // `calls`: those that events of kind kCall name by their index.
  void Push(size_t trace, std::span<const TraceEvent> events,
            std::span<const MemoryCall> calls);

  bool empty() const { return pieces_.empty(); }
  // Whether the first piece has that many events behind it.
  bool Ready(uint64_t foresight) const {
    return !empty() &&
           pushed_ - popped_ >= pieces_.front().events.size() + foresight;
  }

  // The piece that came first, until Pop. REQUIRES: !empty().
  const Piece& Front() const { return pieces_.front(); }
  void Pop();

  // Where a thread of a trace runs.
  using CpuOf = absl::FunctionRef<CpuId(size_t trace, uint32_t thread)>;
  // Takes notice of the events held that are numbered below `until`, in order.
  void Learn(uint64_t until, CpuOf cpu_of);

  // Whether an event noticed that is numbered `from` or higher touches the page
  // of that size on the CPU.
  bool UsesAgain(CpuId cpu, VirtPage page, PageSize size, uint64_t from) const;

 private:
  // Page number in its size, CPU, size.
  using Place = std::tuple<uint64_t, uint32_t, uint8_t>;
  static Place PlaceOf(CpuId cpu, VirtPage page, PageSize size);

  // A page that was touched last by its side; noted when that goes elsewhere.
  struct Touch {
    CpuId cpu;
    VirtPage page;
    uint64_t event = 0;
    bool any = false;
  };
  using Touches = std::array<Touch, 2>;  // by side
  void Note(const TraceEvent& event, CpuId cpu, Touches& last);
  void Note(Touch& last, CpuId cpu, VirtPage page);
  void Keep(const Touch& touch);
  void DropPast();

  std::deque<Piece> pieces_;
  uint64_t pushed_ = 0;
  uint64_t popped_ = 0;
  // The event to be noticed next, and its place.
  uint64_t noticed_ = 0;
  size_t piece_ = 0;
  size_t event_ = 0;
  absl::flat_hash_map<Place, uint64_t> last_use_;  // number of the event
  size_t most_places_ = 0;                         // before the past is dropped
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_READ_AHEAD_H_
