// SPDX-License-Identifier: Apache-2.0
//
// A system call of one thread of a drmemtrace trace, put together from its
// markers: SYSCALL with the number, FUNC_ID and FUNC_ARG for each argument if
// it was recorded with -record_syscall, and after its return FUNC_ID,
// FUNC_RETVAL and, where that is 0, SYSCALL_FAILED with the errno.
//
// FUNC_RETVAL tells success only. So the place of a mapping is known with
// MAP_FIXED, MREMAP_FIXED, of an mremap that may not move, or where the value
// is a page's address, as a recorder that keeps it would write. A brk that
// failed cannot be told from one that did not, and one that only asks says
// nothing. exit and exit_group need neither arguments nor result.
//
//   DrmCall call;
//   call.Begin(11, DrmArch::kX86);
//   call.AddArgument(0x7000); call.AddArgument(4096);
//   switch (call.Return(1)) { case DrmCall::Outcome::kCall: Use(call.call()); }
#ifndef LOOKASIDE_TRACE_DRM_CALL_H_
#define LOOKASIDE_TRACE_DRM_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lookaside/trace/memory_call.h"

namespace lookaside {

// Whose system-call numbers the trace has.
enum class DrmArch : uint8_t { kX86, kAarch64, kUnknown };

// The memory-management call of that number, if it is one.
std::optional<CallKind> DrmCallKind(uint64_t number, DrmArch arch);

class DrmCall {
 public:
  // What has become of the call.
  enum class Outcome : uint8_t {
    kNone,              // nothing that concerns memory, or nothing yet
    kCall,              // call() is it
    kWithoutArguments,  // too few
    kWithoutResult,
    kWithoutAddress,
  };

  // A call of that number begins.
  void Begin(uint64_t number, DrmArch arch);
  bool begun() const { return begun_; }
  bool is(uint64_t number) const { return begun_ && number_ == number; }
  std::optional<CallKind> kind() const { return kind_; }

  void AddArgument(uint64_t value);

  // It has returned so, or failed so. REQUIRES: begun, not yet ended.
  Outcome Return(uint64_t value);
  Outcome Fail(int32_t error);
  // It has returned unseen: another begins, or the thread ends.
  Outcome Abandon();
  // It ends the thread or process. REQUIRES: kind() is an exit.
  Outcome Exit();

  // Without thread and process.
  const MemoryCall& call() const { return call_; }

 private:
  bool SetArguments();
  bool SetResult(uint64_t value);

  bool begun_ = false;
  uint64_t number_ = 0;
  std::optional<CallKind> kind_;
  std::array<uint64_t, 6> arguments_{};
  size_t argument_count_ = 0;
  MemoryCall call_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DRM_CALL_H_
