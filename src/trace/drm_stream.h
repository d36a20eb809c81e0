// SPDX-License-Identifier: Apache-2.0
//
// One file of a drmemtrace trace: that of a thread, of a core (core-sharded),
// or of all threads interleaved (legacy), as events.
//
//   record                  becomes
//   instructions, bundles   fetches, one for each instruction
//   reads, writes           loads and stores; of size 0 (the recorder did not
//                           know it) as of one byte
//   thread, exit, pid       whose the next events are
//   system-call markers     calls, where they tell enough (trace/drm_call.h)
//   timestamps              where Read stops, so that files can be merged
//   sections of the kernel  nothing: they are counted. The simulated kernel
//                           makes accesses of its own
//   anything else           nothing: it is counted by kind
//
// Errors name the byte: of the file if it is not compressed, else of what it
// unpacks to. A file must begin with a header and end with a footer, and every
// chunk of a zip but the last with a chunk footer.
// Invariants: constant memory; an error is sticky. Not thread-safe.
#ifndef LOOKASIDE_TRACE_DRM_STREAM_H_
#define LOOKASIDE_TRACE_DRM_STREAM_H_

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
#include "lookaside/trace/drm_call.h"
#include "lookaside/trace/drm_record.h"
#include "lookaside/trace/drm_tally.h"
#include "lookaside/trace/drm_threads.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

// What the files of a trace have in common.
struct DrmCommon {
  DrmThreads threads;
  DrmTally tally;
  uint64_t file_types = 0;  // bits of all files
  uint64_t page_bytes = 0;  // 0: not told
};

class DrmStream {
 public:
  static constexpr uint64_t kNoLimit = ~uint64_t{0};

  // `head` is what has been read of the source. `common` must outlive this;
  // `number` is that of the file.
  DrmStream(std::unique_ptr<ByteSource> source, std::string_view head,
            uint32_t number, DrmCommon* common);

  // Goes to the first timestamp or event, so that timestamp() and tid() are
  // known.
  void Start();

  // Fills a prefix of `events`, and appends the calls that they stand for to
  // `calls`. Fewer than there is room for: it stands behind a timestamp,
  // before instruction `limit`, at its end or at an error.
  size_t Read(std::span<TraceEvent> events, uint64_t limit,
              std::vector<MemoryCall>& calls);

  // The last one told; 0 before the first.
  uint64_t timestamp() const { return timestamp_; }
  uint64_t tid() const { return tid_; }
  // Passed so far, those of the kernel included.
  uint64_t instructions() const { return instructions_; }
  bool at_end() const { return at_end_; }
  const absl::Status& status() const { return status_; }
  const ByteSource& source() const { return *source_; }

 private:
  // What to do with a record at a glance, by type: an EventKind, or
  static constexpr uint8_t kCount = 0xfe;  // count it
  static constexpr uint8_t kLook = 0xff;   // look closer
  static constexpr size_t kGlances = 64;   // more than types

  enum class Next { kNothing, kEvent, kPause, kStop };

  void Glance();
  // Makes `bytes` bytes from begin_ on be there, if the file has them.
  void Have(size_t bytes);
  void SetWindow();
  bool Refill();
  void TakePartEnd();  // of a part but the last
  void TakeEnd();
  Next TakeOther(const DrmRecord& record, TraceEvent* event,
                 std::vector<MemoryCall>& calls);
  Next Take(const DrmRecord& record, TraceEvent* event,
            std::vector<MemoryCall>& calls);
  Next TakeAccess(const DrmRecord& record, TraceEvent* event);
  Next TakeBundle(const DrmRecord& record, TraceEvent* event);
  Next TakeHeader(uint64_t version);
  Next TakeThread(const DrmRecord& record);
  Next TakeMarker(const DrmRecord& record, TraceEvent* event,
                  std::vector<MemoryCall>& calls);
  Next TakePageSize(uint64_t bytes);
  Next TakeChunkFooter(uint64_t chunk);
  Next TakeSection(uint16_t marker);
  Next TakeSyscall(uint64_t number, TraceEvent* event,
                   std::vector<MemoryCall>& calls);
  Next TakeFunction(const DrmRecord& record, TraceEvent* event,
                    std::vector<MemoryCall>& calls);
  void TakeFunctionId(uint64_t id);
  DrmCall::Outcome TakeReturn(DrmCall& call, uint64_t value);
  Next TakeOutcome(DrmCall::Outcome outcome, const DrmThread& thread,
                   TraceEvent* event, std::vector<MemoryCall>& calls);

  DrmThread& Thread();
  // Its threads are known in all files by their numbers.
  uint32_t NumberSpace() const;
  DrmArch arch() const;
  bool in_kernel() const { return in_syscall_ || in_switch_; }
  Next Fail(std::string_view what);
  std::string Place() const;

  const std::unique_ptr<ByteSource> source_;
  const uint32_t number_;
  DrmCommon* const common_;
  std::array<uint8_t, kGlances> glances_{};
  std::vector<char> bytes_;
  size_t begin_ = 0;     // of the record at hand
  size_t end_ = 0;       // of the whole records of this part of a zip
  size_t size_ = 0;      // of what was read
  uint64_t offset_ = 0;  // of bytes_, in what the file unpacks to
  std::vector<uint64_t> part_ends_;
  size_t part_ = 0;

  bool begun_ = false;
  bool after_footer_ = false;
  bool after_chunk_footer_ = false;
  bool in_syscall_ = false;  // a section of the kernel
  bool in_switch_ = false;
  bool in_function_ = false;  // the function id is of no system call
  uint64_t file_type_ = 0;
  uint64_t timestamp_ = 0;
  uint64_t tid_ = 0;
  uint64_t pid_ = 0;
  DrmThread* thread_ = nullptr;  // null: not looked up since it was named
  uint32_t thread_number_ = 0;
  uint64_t instructions_ = 0;
  uint64_t next_pc_ = 0;  // behind the last instruction; 0: none yet
  size_t of_bundle_ = 0;  // instructions taken of the bundle at hand
  bool at_end_ = false;
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DRM_STREAM_H_
