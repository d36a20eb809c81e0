// SPDX-License-Identifier: Apache-2.0
//
// A system call of the recorded program that concerns its address space or
// its threads: what was asked, and what the kernel of the recording machine
// answered. A plain value, whatever file or generator it came from; only a
// replay turns it into operations of the simulated kernel.
//
// Arguments are as the program passed them (Linux's man pages, section 2, and
// include/uapi/asm-generic/mman*.h, linux/mman.h and linux/sched.h for the
// numbers), so that nothing need be aligned, in range or sensible:
//
//   mmap       address (a hint, or the place with MAP_FIXED), length, prot,
//              flags, fd, offset; result: where the mapping is
//   munmap     address, length
//   mprotect   address, length, prot
//   mremap     address, length (the old ones), new_length, flags, and
//              new_address with MREMAP_FIXED; result: where it is now
//   brk        address (the end of the heap asked for; 0 asks nothing);
//              result: the end of the heap after the call
//   madvise    address, length, advice
//   clone      flags; creates `child`, a thread of the same process
//   fork       flags; creates `child`, the first thread of another process:
//              fork, vfork (CLONE_VM and CLONE_VFORK), and clones without
//              CLONE_VM or with CLONE_VFORK
//   execve     replaces the address space; other threads of it are gone
//   exit       ends the thread
//   exit_group ends the process
//
// Leaves out: other calls (shmat, remap_file_pages, userfaultfd, ...).
// Invariant: a call that failed has changed nothing and must not be applied;
// it is kept because calls are counted. A brk that could not be served
// returns the old end rather than an error: its `error` is ENOMEM, as libc
// reports it.
#ifndef LOOKASIDE_TRACE_MEMORY_CALL_H_
#define LOOKASIDE_TRACE_MEMORY_CALL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lookaside/base/address.h"

namespace lookaside {

enum class CallKind : uint8_t {
  kMmap = 0,
  kMunmap,
  kMprotect,
  kMremap,
  kBrk,
  kMadvise,
  kClone,
  kFork,
  kExecve,
  kExit,
  kExitGroup,
};
inline constexpr size_t kCallKinds = 11;

// "mmap" and so on.
std::string_view Name(CallKind kind);

// Numbers of the Linux ABI on x86-64, with the names of Linux.
inline constexpr uint32_t kProtNone = 0;
inline constexpr uint32_t kProtRead = 0x1;
inline constexpr uint32_t kProtWrite = 0x2;
inline constexpr uint32_t kProtExec = 0x4;

inline constexpr uint32_t kMapShared = 0x01;
inline constexpr uint32_t kMapPrivate = 0x02;
inline constexpr uint32_t kMapSharedValidate = 0x03;
inline constexpr uint32_t kMapType = 0x0f;  // mask of the three above
inline constexpr uint32_t kMapFixed = 0x10;
inline constexpr uint32_t kMapAnonymous = 0x20;
inline constexpr uint32_t kMap32Bit = 0x40;
inline constexpr uint32_t kMapGrowsDown = 0x100;
inline constexpr uint32_t kMapLocked = 0x2000;
inline constexpr uint32_t kMapNoReserve = 0x4000;
inline constexpr uint32_t kMapPopulate = 0x8000;
inline constexpr uint32_t kMapNonblock = 0x10000;
inline constexpr uint32_t kMapStack = 0x20000;
inline constexpr uint32_t kMapHugeTlb = 0x40000;
inline constexpr uint32_t kMapFixedNoReplace = 0x100000;

inline constexpr uint32_t kMremapMayMove = 1;
inline constexpr uint32_t kMremapFixed = 2;
inline constexpr uint32_t kMremapDontUnmap = 4;

inline constexpr int32_t kMadvNormal = 0;
inline constexpr int32_t kMadvRandom = 1;
inline constexpr int32_t kMadvSequential = 2;
inline constexpr int32_t kMadvWillNeed = 3;
inline constexpr int32_t kMadvDontNeed = 4;
inline constexpr int32_t kMadvFree = 8;
inline constexpr int32_t kMadvRemove = 9;
inline constexpr int32_t kMadvDontFork = 10;
inline constexpr int32_t kMadvDoFork = 11;
inline constexpr int32_t kMadvMergeable = 12;
inline constexpr int32_t kMadvUnmergeable = 13;
inline constexpr int32_t kMadvHugePage = 14;
inline constexpr int32_t kMadvNoHugePage = 15;
inline constexpr int32_t kMadvCold = 20;
inline constexpr int32_t kMadvPageOut = 21;
inline constexpr int32_t kMadvPopulateRead = 22;
inline constexpr int32_t kMadvPopulateWrite = 23;
inline constexpr int32_t kMadvDontNeedLocked = 24;
inline constexpr int32_t kMadvCollapse = 25;

inline constexpr uint32_t kCloneFlagVm = 0x100;
inline constexpr uint32_t kCloneFlagVfork = 0x4000;
inline constexpr uint32_t kCloneFlagThread = 0x10000;

inline constexpr int32_t kErrnoNoMemory = 12;  // ENOMEM
inline constexpr int32_t kMostErrno = 4095;    // MAX_ERRNO of Linux

struct MemoryCall {
  static constexpr uint32_t kNoThread = ~uint32_t{0};

  CallKind kind = CallKind::kMmap;
  uint32_t thread = 0;   // that made the call, as TraceEvent::thread
  uint32_t process = 0;  // whose thread that is, from 0 in order of appearance
  int32_t error = 0;     // errno; 0: it succeeded

  VirtAddr address{};
  uint64_t length = 0;  // bytes
  VirtAddr new_address{};
  uint64_t new_length = 0;
  uint64_t offset = 0;
  VirtAddr result{};

  uint32_t prot = 0;
  uint32_t flags = 0;  // MAP_*, MREMAP_* or CLONE_*
  int32_t advice = 0;
  int32_t fd = -1;
  uint32_t child = kNoThread;  // the thread created

  bool succeeded() const { return error == 0; }
  // Of mmap: not backed by a file, whatever `fd` is.
  bool anonymous() const { return (flags & kMapAnonymous) != 0; }

  friend bool operator==(const MemoryCall&, const MemoryCall&) = default;
};

// As strace prints it: "munmap(0x4837000, 8192) = 0". The thread that was
// created stands where strace has its number: "clone(...) = thread 2".
std::string ToString(const MemoryCall& call);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_MEMORY_CALL_H_
