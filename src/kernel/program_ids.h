// SPDX-License-Identifier: Apache-2.0
//
// The kernel's programs by number. Which table of steps stands behind a
// number is the version's choice (kernel/programs.h).
#ifndef LOOKASIDE_KERNEL_PROGRAM_IDS_H_
#define LOOKASIDE_KERNEL_PROGRAM_IDS_H_

#include <cstddef>
#include <cstdint>

#include "lookaside/machine/step_frame.h"

namespace lookaside {

enum class KernelProgram : uint16_t {
  // Ways in and out.
  kSyscall,
  kFaultEntry,
  kInterrupt,
  kReturnToUser,
  // Flushing.
  kFlushTlbMmRange,
  kFlushTlbFunc,
  kFlushBatch,
  kTlbFlushMmu,
  kSweepDeferred,
  kSettleDeferred,
  kSchedulerTick,
  // Address spaces on a CPU.
  kSwitchMm,
  kLeaveMm,
  kContextSwitch,
  // Page tables.
  kZapRange,
  kSplitHuge,
  kFaultIn,
  kCopyOnWrite,
  // Operations.
  kMmap,
  kMunmap,
  kMprotect,
  kMremap,
  kMadviseZap,
  kMadviseFree,
  kMadviseAdvice,
  kCollapse,
  kFork,
  kExec,
  kExit,
  kExitMmap,
  kCloneThread,
  kReclaim,
  kNumaHint,
  kMigratePages,
  kMergePages,
};
inline constexpr size_t kKernelPrograms = 35;

constexpr ProgramId IdOf(KernelProgram program) {
  return ProgramId(static_cast<uint16_t>(program));
}

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_PROGRAM_IDS_H_
