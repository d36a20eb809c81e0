// SPDX-License-Identifier: Apache-2.0
//
// A stream of trace events: a file, a pipe, a generator or a buffer.
//
//   std::vector<TraceEvent> buffer(65536);
//   while (size_t n = reader->Read(buffer)) {
//     Use({buffer.data(), n}, reader->calls());
//   }
//   if (!reader->status().ok()) ...   // what was read before is not whole
#ifndef LOOKASIDE_TRACE_TRACE_READER_H_
#define LOOKASIDE_TRACE_TRACE_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/thread_streams.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

// Records of a kind that the reader understood but has no use for yet.
struct SkippedRecords {
  std::string kind;  // e.g. "system-call lines"
  uint64_t count = 0;
};

// What is known of a trace; complete once Read has returned 0.
struct TraceInfo {
  std::string name;    // the path as given; "-" for standard input
  std::string format;  // "lackey", with "+gz", "+xz" or "+zst" if compressed
  // Of a native trace, the format of the trace that it was made from; else "".
  std::string made_from;
  std::string xxh3;    // XXH3-128 of the bytes as stored, 32 hex digits
  uint64_t bytes = 0;  // as stored
  // Calls are counted apart, in `calls`, and numbered apart.
  uint64_t events = 0;
  uint64_t accesses = 0;
  std::array<uint64_t, kCallKinds> calls{};  // by CallKind
  uint64_t failed_calls = 0;                 // of all those
  uint32_t threads = 0;    // that ran in it; at least 1 if it has events
  uint32_t processes = 0;  // the same
  // Of generators, known from the beginning: how many accesses they make
  // before what is to be measured, and whether they fetch instructions.
  uint64_t setup_accesses = 0;
  bool has_fetches = false;
  std::vector<SkippedRecords> skipped;  // in a fixed order, only count > 0
  std::vector<std::string> warnings;
};

// The format that tells how the events came to be in their order.
inline std::string_view RecordedAs(const TraceInfo& info) {
  return info.made_from.empty() ? info.format : info.made_from;
}

// How many calls of any kind there were.
inline uint64_t AllCalls(const TraceInfo& info) {
  uint64_t calls = 0;
  for (uint64_t of_kind : info.calls) calls += of_kind;
  return calls;
}

// Not thread-safe.
class TraceReader {
 public:
  virtual ~TraceReader() = default;

  // Fills a prefix of `events` and returns its length; 0 at the end of the
  // trace or on error. REQUIRES: !events.empty().
  virtual size_t Read(std::span<TraceEvent> events) = 0;

  // The calls that the events of the last Read stand for, in their order, so
  // that the n-th event of kind kCall has address n. Valid until the next
  // Read. A trace without calls need not override this.
  virtual std::span<const MemoryCall> calls() const { return {}; }

  // OK until the first error, which then stays.
  virtual const absl::Status& status() const = 0;

  virtual TraceInfo info() const = 0;

  // Of what has no order of its own among its threads (a generator): each
  // thread's stream. Whoever plays these does not Read. Null: the order of
  // Read is all that is known.
  virtual ThreadStreams* streams() { return nullptr; }
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_TRACE_READER_H_
