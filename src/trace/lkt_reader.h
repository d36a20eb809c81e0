// SPDX-License-Identifier: Apache-2.0
//
// Reads a native trace (.lkt; docs/trace_format.md), from a file or a pipe, a
// block at a time.
//
// Errors name the path and the offset of the block at fault: another version,
// a block that is cut off, whose sum is wrong, whose sizes are beyond what any
// writer makes or whose columns make no sense; totals that are not those of the
// blocks; bytes after the end; no end.
// Invariants: memory is that of one block; no event of a block is handed out
// before its sum was checked; an error is sticky. Not thread-safe.
#ifndef LOOKASIDE_TRACE_LKT_READER_H_
#define LOOKASIDE_TRACE_LKT_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/trace/byte_source.h"
#include "lookaside/trace/lkt_events.h"
#include "lookaside/trace/lkt_footer.h"
#include "lookaside/trace/lkt_format.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// Whether text that begins so is a native trace, of whatever version.
bool LooksLikeLkt(std::string_view head);

class LktReader final : public TraceReader {
 public:
  // `head`: what has been read of the source. Reads the header.
  static absl::StatusOr<std::unique_ptr<LktReader>> Open(
      std::unique_ptr<ByteSource> source, std::string_view head);

  size_t Read(std::span<TraceEvent> events) override;
  std::span<const MemoryCall> calls() const override { return calls_; }
  const absl::Status& status() const override { return status_; }
  TraceInfo info() const override;

  const LktOrigin& origin() const { return origin_; }

 private:
  LktReader(std::unique_ptr<ByteSource> source, std::string_view head)
      : source_(std::move(source)), head_(head) {}

  absl::Status ReadHeader();
  absl::Status BeginBlock();
  absl::Status ReadFooter(std::string_view raw);
  absl::Status ReadTrailer();
  // The next `count` bytes; fewer at the end or on an error of the source.
  std::string Take(size_t count);
  absl::StatusOr<std::string> TakePart(size_t count, std::string_view what);
  absl::StatusOr<std::string> Unpack(const LktBlockHeader& block,
                                     std::string_view stored) const;
  template <typename... Args>
  absl::Status Broken(std::string_view format, Args&&... args) const;
  void Count(std::span<const TraceEvent> events);

  std::unique_ptr<ByteSource> source_;
  std::string head_;  // of the source, not yet taken
  uint64_t offset_ = 0;
  uint64_t block_ = 0;  // offset of the block in hand
  LktOrigin origin_;
  LktEventDecoder decoder_;
  std::vector<LktBlockPlace> blocks_;
  std::vector<MemoryCall> calls_;
  TraceInfo counted_;  // of what was handed out
  TraceInfo told_;     // by the footer, once there
  bool at_end_ = false;
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LKT_READER_H_
