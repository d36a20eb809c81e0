// SPDX-License-Identifier: Apache-2.0
//
// What a task or the kernel itself asks for, as a plain value. A trace's calls
// become these; so do a generator's.
//
// Addresses and lengths are in bytes, as in the system calls; a range covers
// every page that it touches.
#ifndef LOOKASIDE_KERNEL_OPERATION_H_
#define LOOKASIDE_KERNEL_OPERATION_H_

#include <cstdint>
#include <string_view>

#include "lookaside/base/address.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/kernel/vma.h"

namespace lookaside {

enum class OperationKind : uint8_t {
  kMmap,    // address, length, protection, shared, hugetlb
  kMunmap,  // address, length
  kMprotect,
  kMremap,  // address, length, new_address, new_length, dont_unmap
  kBrk,     // address: the new end of the heap
  kMadviseDontNeed,
  kMadviseFree,
  kMadviseHugePage,
  kMadviseNoHugePage,
  kMadviseCollapse,
  kFork,         // returns the child's MmId
  kExec,         // returns the new MmId
  kCloneThread,  // of the address space that runs
  kExit,         // of the thread that runs
  kSwitch,       // to `mm`, or to the idle loop
  kHalt,         // to the idle loop, and halt
  // What the kernel does by itself, to pages of `mm`:
  kReclaim,
  kNumaHint,
  kMigratePages,  // to `node`: compaction and NUMA balancing
  kMergePages,    // the pages of [address, + length) and of new_address: KSM
};

constexpr std::string_view Name(OperationKind kind) {
  constexpr std::string_view kNames[] = {"mmap",
                                         "munmap",
                                         "mprotect",
                                         "mremap",
                                         "brk",
                                         "madvise_dontneed",
                                         "madvise_free",
                                         "madvise_hugepage",
                                         "madvise_nohugepage",
                                         "madvise_collapse",
                                         "fork",
                                         "exec",
                                         "clone_thread",
                                         "exit",
                                         "switch",
                                         "halt",
                                         "reclaim",
                                         "numa_hint",
                                         "migrate_pages",
                                         "merge_pages"};
  return kNames[static_cast<size_t>(kind)];
}

struct Operation {
  OperationKind kind = OperationKind::kMmap;
  VirtAddr address{};
  uint64_t length = 0;
  Protection protection{};
  bool shared = false;
  bool hugetlb = false;
  bool dont_unmap = false;
  VirtAddr new_address{};
  uint64_t new_length = 0;
  // kNoMm: the address space that runs on the CPU.
  MmId mm = kNoMm;
  NodeId node{};
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_OPERATION_H_
