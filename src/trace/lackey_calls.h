// SPDX-License-Identifier: Apache-2.0
//
// Follows the system calls of a recording of Valgrind's from line to line, and
// hands out those that concern memory once their results are known.
//
// Where a call stands among the accesses: where its result is reported. The
// thread that made it accesses nothing between its entry and its return, and
// Valgrind runs no other thread meanwhile, unless the call may block ([async]:
// of the calls here only madvise): then accesses of other threads that were
// made before the return stand before the call, although the kernel may have
// done its work earlier. Only at the return is it known whether it did any.
// There are three exceptions:
//   - a fork stands where the first of the two processes tells of it, so that
//     nothing of the child comes before it;
//   - an execve that succeeds has no result. It stands where Valgrind reports
//     the new program's command, or at the end of the recording;
//   - a call whose result is missing (a signal interrupted it, or another
//     thread ended the process) is left out, and counted as unfinished().
//
// Leaves out: calls of other kinds.
// Invariant: each call that is handed out names threads of threads().
// Not thread-safe.
//
//   LackeyCalls calls;
//   const LackeyCalls::Line line = calls.Take("SYSCALL[7,1](11) sys_mu...");
//   if (!line.error.empty()) ...
//   Use(calls.done());
//   calls.ClearDone();
#ifndef LOOKASIDE_TRACE_LACKEY_CALLS_H_
#define LOOKASIDE_TRACE_LACKEY_CALLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lookaside/trace/lackey_call.h"
#include "lookaside/trace/lackey_threads.h"
#include "lookaside/trace/memory_call.h"

namespace lookaside {

class LackeyCalls {
 public:
  struct Line {
    bool of_memory_call = false;  // it told something of one
    bool whole = true;            // it does not break off within a call
    std::string_view rest;        // stands behind: an access, a message
    std::string error;            // what is wrong and what is expected; or ""
  };

  // A line of a system call or of the scheduler.
  Line Take(std::string_view line);

  // A message of Valgrind; some begin a new program.
  void TakeMessage(std::string_view line);

  // At the end of the recording.
  void Finish();

  // The calls that became complete, oldest first.
  const std::vector<MemoryCall>& done() const { return done_; }
  void ClearDone() { done_.clear(); }

  const LackeyThreads& threads() const { return threads_; }
  uint64_t unfinished() const { return unfinished_; }

 private:
  struct Started {
    MemoryCall call;
    uint32_t number = 0;  // of the system call
  };

  void TakeCallLine(std::string_view& text, Line& line);
  void TakeOtherCall(std::string_view& text, Line& line);
  void TakeMemoryCall(const LackeyHead& head, const LackeyCallForm& form,
                      std::string_view& text, Line& line);
  void TakeReturn(const LackeyHead& head, std::string_view& text, Line& line);
  void TakeLateResult(std::string_view& text, Line& line);
  void TakeFork(std::string_view& text, Line& line);
  bool TakeScheduler(std::string_view& text);
  void Return(uint32_t thread, const LackeyResult& result, Line& line);
  void Succeed(uint64_t result, MemoryCall& call);
  void CompleteExec(uint32_t thread);
  // Of a thread that makes another call.
  void Abandon(uint32_t thread);

  LackeyThreads threads_;
  absl::flat_hash_map<uint32_t, Started> started_;  // by thread
  // The thread whose call's line goes on elsewhere.
  std::optional<uint32_t> open_;
  std::vector<MemoryCall> done_;
  uint64_t unfinished_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LACKEY_CALLS_H_
