// SPDX-License-Identifier: Apache-2.0
//
// Writes a native trace (.lkt; docs/trace_format.md). The file appears under
// its name when it is finished (base/atomic_file.h). Memory is that of one
// block and some bytes for each block written.
#ifndef LOOKASIDE_TRACE_LKT_WRITER_H_
#define LOOKASIDE_TRACE_LKT_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/atomic_file.h"
#include "lookaside/trace/lkt_events.h"
#include "lookaside/trace/lkt_footer.h"
#include "lookaside/trace/lkt_format.h"
#include "lookaside/trace/lkt_level.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// Not thread-safe.
class LktWriter {
 public:
  // REQUIRES: kLktLeastLevel <= level <= kLktMostLevel.
  static absl::StatusOr<std::unique_ptr<LktWriter>> Create(
      const std::string& path, LktOrigin origin, int level = kLktDefaultLevel);

  // `calls`: those that events of kind kCall name by their index.
  // REQUIRES: no call before it failed; not finished.
  absl::Status Write(std::span<const TraceEvent> events,
                     std::span<const MemoryCall> calls);
  // `info`: of the trace whose events all have been written. Without it nothing
  // is left of what was written.
  absl::Status Finish(const TraceInfo& info);

  // Written so far.
  uint64_t bytes() const { return offset_; }

 private:
  LktWriter(std::unique_ptr<AtomicFile> file, int level)
      : file_(std::move(file)), level_(level) {}

  absl::Status Append(std::string_view bytes);
  absl::Status EndBlock();

  std::unique_ptr<AtomicFile> file_;
  const int level_;
  uint64_t offset_ = 0;
  LktEventEncoder encoder_;
  std::vector<LktBlockPlace> blocks_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LKT_WRITER_H_
