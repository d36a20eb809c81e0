// SPDX-License-Identifier: Apache-2.0
//
// What became of the memory-management calls of one trace.
#ifndef LOOKASIDE_REPLAY_CALL_COUNTS_H_
#define LOOKASIDE_REPLAY_CALL_COUNTS_H_

#include <cstdint>

namespace lookaside {

struct CallCounts {
  uint64_t applied = 0;  // as operations of the kernel
  uint64_t refused = 0;  // by this kernel, though the recording's agreed
  // Threads that went on after their exit; each got a new address space.
  uint64_t revived = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_CALL_COUNTS_H_
