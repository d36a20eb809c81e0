// SPDX-License-Identifier: Apache-2.0
//
// Reads what `valgrind --tool=lackey --basic-counts=no --trace-mem=yes`
// writes; trace/lackey_line.h has the lines. Instruction fetches, loads,
// stores and modifies become events; so do the memory-management calls that
// --trace-syscalls=yes adds (trace/lackey_calls.h tells where they stand).
// All other lines that lackey writes are counted by kind and skipped; any
// other text is an error with its line.
//
// TraceEvent::thread is the thread that scheduling and system-call lines named
// last (trace/lackey_threads.h); 0 without such lines.
//
// Leaves out: what the program had mapped when it began and how its stack
// grows, which Valgrind does not tell; other system calls.
// Invariants: memory is constant but for the threads; a line has at most
// kMaxLineBytes; events are those of the lines before the first error, in
// order; a trace without accesses, or one that ends in mid-record, is an
// error. A last line that is whole but for its newline is read, with a
// warning.
// Not thread-safe.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto source, ByteSource::Open(path));
//   LackeyReader reader(std::move(source), "");
//   while (size_t n = reader.Read(buffer)) Use({buffer.data(), n});
//   LOOKASIDE_RETURN_IF_ERROR(reader.status());
#ifndef LOOKASIDE_TRACE_LACKEY_READER_H_
#define LOOKASIDE_TRACE_LACKEY_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "lookaside/trace/byte_source.h"
#include "lookaside/trace/lackey_calls.h"
#include "lookaside/trace/lackey_line.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

class LackeyReader final : public TraceReader {
 public:
  // Longer than any line that Valgrind writes, but for a command line of that
  // length.
  static constexpr size_t kMaxLineBytes = size_t{64} << 10;

  // `head` is text already read from `source`. REQUIRES: head.size() <=
  // kMaxLineBytes.
  LackeyReader(std::unique_ptr<ByteSource> source, std::string_view head);

  size_t Read(std::span<TraceEvent> events) override;
  std::span<const MemoryCall> calls() const override { return calls_; }
  const absl::Status& status() const override { return status_; }
  TraceInfo info() const override;

 private:
  enum class Next { kEvent, kNothing, kStop };

  size_t HandOut(std::span<TraceEvent> events);
  size_t ParseRun(std::span<TraceEvent> events);
  Next TakeLine(TraceEvent* event);
  Next TakeLastLine(TraceEvent* event);
  Next TakeText(std::string_view line, TraceEvent* event);
  Next TakeAccess(std::string_view text, TraceEvent* event);
  Next TakeCallText(LackeyLine kind, std::string_view line);
  Next TakeEnd();
  std::string WhyMixed() const;
  bool Refill();
  Next FailOnText(absl::Status status);
  Next Fail(absl::Status status);
  Next Overlong();
  void AddWarnings(TraceInfo& info) const;

  const std::unique_ptr<ByteSource> source_;
  std::vector<char> text_;  // kLackeyPadding NUL bytes follow end_
  size_t begin_ = 0;        // of the first line not yet taken
  size_t end_ = 0;
  uint64_t lines_ = 0;  // taken, the one at hand included
  uint64_t events_ = 0;
  uint64_t modifies_ = 0;
  std::array<uint64_t, kLackeyLines> skipped_{};
  LackeyCalls tracker_;
  size_t handed_out_ = 0;             // of the calls that tracker_ has done
  std::optional<TraceEvent> behind_;  // the access on the line of a call
  std::vector<MemoryCall> calls_;     // of the last Read
  std::array<uint64_t, kCallKinds> calls_by_kind_{};
  uint64_t failed_calls_ = 0;
  bool no_last_newline_ = false;
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LACKEY_READER_H_
