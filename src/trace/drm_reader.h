// SPDX-License-Identifier: Apache-2.0
//
// Reads drmemtrace final traces (trace/drm_record.h; trace/drm_stream.h tells
// what becomes of each record): one file, or the files of a directory, which
// are merged.
//
// By timestamp, the file whose last timestamp is the smallest goes on, the
// first by name among equals, up to its next timestamp. DynamoRIO takes them
// when it writes a buffer and around system calls, so the order between two of
// them is not known. By schedule, trace/drm_schedule.h.
//
// Leaves out: processes. Threads of several are one recording, with a warning;
// what the trace tells of CPUs and physical addresses, which is counted.
// Invariants: memory grows with the files and threads (and with the schedule,
// if there is one), not with their length; an error is sticky. Not thread-safe.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto source, ByteSource::Open(path));
//   DrmReader reader(std::move(source), head);
//   while (size_t n = reader.Read(buffer)) Use({buffer.data(), n});
//   LOOKASIDE_RETURN_IF_ERROR(reader.status());
#ifndef LOOKASIDE_TRACE_DRM_READER_H_
#define LOOKASIDE_TRACE_DRM_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "lookaside/trace/byte_source.h"
#include "lookaside/trace/drm_schedule.h"
#include "lookaside/trace/drm_stream.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// A file of a trace, and what has been read of it.
struct DrmFile {
  std::unique_ptr<ByteSource> source;
  std::string head;
};

class DrmReader final : public TraceReader {
 public:
  DrmReader(std::unique_ptr<ByteSource> source, std::string_view head);
  // `name`: of the directory. `files` are in the order of their names.
  // `schedule`: to be followed; none: timestamps. REQUIRES: a file.
  DrmReader(std::string name, std::vector<DrmFile> files,
            std::optional<std::vector<DrmSlice>> schedule);

  // What a directory has besides, to be told in the warnings.
  void AddWarning(std::string warning) {
    warnings_.push_back(std::move(warning));
  }

  size_t Read(std::span<TraceEvent> events) override;
  std::span<const MemoryCall> calls() const override { return calls_; }
  const absl::Status& status() const override { return status_; }
  TraceInfo info() const override;

 private:
  static constexpr size_t kNone = ~size_t{0};

  void Begin();
  void Queue(size_t stream);
  // Which goes on, and how far; kNone at the end or on error.
  size_t Choose();
  size_t ChooseByTimestamp();
  size_t ChooseBySchedule();
  size_t FindThread(uint64_t tid) const;
  void TakeEnd();
  void AddWarnings(TraceInfo& info) const;
  void AddCallWarning(TraceInfo& info) const;
  std::string Digests() const;

  const std::string name_;
  std::unique_ptr<DrmCommon> common_ = std::make_unique<DrmCommon>();
  std::vector<std::unique_ptr<DrmStream>> streams_;
  std::optional<std::vector<DrmSlice>> schedule_;
  size_t next_slice_ = 0;
  uint64_t limit_ = DrmStream::kNoLimit;
  size_t current_ = kNone;
  // Of the others that are not at their end: timestamp and number, the smallest
  // first.
  std::vector<std::pair<uint64_t, size_t>> queue_;
  bool begun_ = false;
  bool ended_ = false;
  size_t without_timestamp_ = 0;  // files
  std::vector<MemoryCall> calls_;
  uint64_t events_ = 0;
  std::array<uint64_t, kCallKinds> calls_by_kind_{};
  uint64_t failed_calls_ = 0;
  std::vector<std::string> warnings_;
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DRM_READER_H_
