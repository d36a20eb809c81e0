// SPDX-License-Identifier: Apache-2.0
//
// Reads what `valgrind --tool=lackey --basic-counts=no --trace-mem=yes`
// writes; trace/lackey_line.h has the lines. Instruction fetches, loads,
// stores and modifies become events; all other lines that lackey writes are
// counted by kind and skipped; any other text is an error with its line.
//
// Leaves out: what the system calls did (later events have their effect
// though), and which thread an access is of: TraceEvent::thread is 0.
// Invariants: constant memory; a line has at most kMaxLineBytes; events are
// those of the lines before the first error, in order; a trace without
// events, or one that ends in mid-record, is an error.
// A last line that is whole but for its newline is read, with a warning.
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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "lookaside/trace/byte_source.h"
#include "lookaside/trace/lackey_line.h"
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
  const absl::Status& status() const override { return status_; }
  TraceInfo info() const override;

 private:
  enum class Next { kEvent, kNothing, kStop };

  size_t ParseRun(std::span<TraceEvent> events);
  Next TakeLine(TraceEvent* event);
  Next TakeLastLine(TraceEvent* event);
  Next TakeText(std::string_view line, TraceEvent* event);
  Next TakeAccess(std::string_view text, TraceEvent* event);
  void NoteThread(std::string_view line);
  bool Refill();
  Next Fail(absl::Status status);
  Next Overlong();

  const std::unique_ptr<ByteSource> source_;
  std::vector<char> text_;  // kLackeyPadding NUL bytes follow end_
  size_t begin_ = 0;        // of the first line not yet taken
  size_t end_ = 0;
  uint64_t lines_ = 0;  // taken, the one at hand included
  uint64_t events_ = 0;
  uint64_t modifies_ = 0;
  std::array<uint64_t, kLackeyLines> skipped_{};
  uint32_t first_thread_ = 0;  // 0: none was named yet
  bool several_threads_ = false;
  bool no_last_newline_ = false;
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LACKEY_READER_H_
