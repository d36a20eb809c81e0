// SPDX-License-Identifier: Apache-2.0
//
// The pieces of the lines in which Valgrind (coregrind/m_syswrap of 3.19)
// tells of a system call. Valgrind prints a call in pieces, and whatever else
// is printed between two of them stands in the midst of the line:
//
//   SYSCALL[7,1](9) sys_mmap ( 0x0, 8192, 3, 34, 4294967295, 0 )
//                              its number, name and arguments, in decimal but
//                              for addresses (and the flags of clone, which
//                              are hexadecimal without 0x)
//    --> [pre-success] Success(0x4835000)
//    --> [pre-fail] Failure(0x16)
//   [sync] --> Success(0x0)    the result, or an error number
//    --> [async] ...           the call may block: other threads run, and the
//   SYSCALL[7,1](9) ... [async] --> Success(0x0)
//                              result is on a line of its own
//      clone(fork): process 7 created child 8
//      fork: process 7 created child 8
//
// Each function takes one piece from the front of a text, which then begins
// behind it.
#ifndef LOOKASIDE_TRACE_LACKEY_CALL_H_
#define LOOKASIDE_TRACE_LACKEY_CALL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lookaside/trace/memory_call.h"

namespace lookaside {

// "SYSCALL[7,1](9)", or "--7--   SCHED[1]:" with number 0.
struct LackeyHead {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t number = 0;
};

std::optional<LackeyHead> TakeCallHead(std::string_view& text);
std::optional<LackeyHead> TakeSchedulerHead(std::string_view& text);

struct LackeyResult {
  enum class State {
    kMissing,  // the text begins with none
    kBroken,   // with the beginning of one
    kBlocked,  // it will come on a line of its own
    kReturned,
  };
  State state = State::kMissing;
  bool failed = false;
  uint64_t value = 0;
};

// What stands behind the arguments, or on a line of its own.
LackeyResult TakeResult(std::string_view& text);

struct LackeyFork {
  uint32_t parent = 0;
  uint32_t child = 0;
};

bool IsForkMessage(std::string_view text);
std::optional<LackeyFork> TakeForkMessage(std::string_view& text);

// How Valgrind prints a memory-management call.
struct LackeyCallForm {
  std::string_view name;
  CallKind kind;
  std::string_view arguments;  // as an error shows them
  size_t least = 0;            // how many there are
  size_t most = 0;
};

// The form of the call that `text` begins with, null if it is of no kind that
// is read.
const LackeyCallForm* FindCallForm(std::string_view text);

// Name and arguments; nullopt if they are not as the form says.
std::optional<MemoryCall> TakeCall(const LackeyCallForm& form,
                                   std::string_view& text);

// "sys_munmap ( ADDRESS, LENGTH )", for an error.
std::string Spelled(const LackeyCallForm& form);

// Skips name and arguments of a call whose form is not known.
void SkipCall(std::string_view& text);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LACKEY_CALL_H_
