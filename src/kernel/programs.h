// SPDX-License-Identifier: Apache-2.0
//
// The kernel's programs, and which of them a version runs. docs/kernel_ops.md
// is printed from these tables.
#ifndef LOOKASIDE_KERNEL_PROGRAMS_H_
#define LOOKASIDE_KERNEL_PROGRAMS_H_

#include <array>

#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/kernel_rules.h"
#include "lookaside/kernel/program_ids.h"

namespace lookaside {

using KernelPrograms = std::array<const KernelSteps*, kKernelPrograms>;

KernelPrograms ProgramsOf(const KernelRules& rules);

extern const KernelSteps kSyscallProgram;
extern const KernelSteps kFaultEntryProgram;
extern const KernelSteps kReturnProgram;
extern const KernelSteps kInterruptProgram;

extern const KernelSteps kFlushProgram34;
extern const KernelSteps kFlushProgram36;
extern const KernelSteps kFlushProgram414;
extern const KernelSteps kFlushProgram513;
extern const KernelSteps kFlushProgram615;
extern const KernelSteps kFlushFuncProgram34;
extern const KernelSteps kFlushFuncProgram414;
extern const KernelSteps kFlushBatchProgram;
extern const KernelSteps kTlbFlushMmuProgram;
extern const KernelSteps kSweepDeferredProgram;
extern const KernelSteps kSettleDeferredProgram;
extern const KernelSteps kSchedulerTickProgram;

extern const KernelSteps kSwitchMmProgram34;
extern const KernelSteps kSwitchMmProgram414;
extern const KernelSteps kLeaveMmProgram34;
extern const KernelSteps kContextSwitchProgram;

extern const KernelSteps kZapRangeProgram;
extern const KernelSteps kSplitHugeProgram;
extern const KernelSteps kFaultInProgram;
extern const KernelSteps kCopyOnWriteProgram;

extern const KernelSteps kMmapProgram;
extern const KernelSteps kMunmapProgram;
extern const KernelSteps kMprotectProgram;
extern const KernelSteps kMremapProgram;
extern const KernelSteps kMadviseZapProgram;
extern const KernelSteps kMadviseFreeProgram;
extern const KernelSteps kMadviseAdviceProgram;
extern const KernelSteps kCollapseProgram;
extern const KernelSteps kForkProgram;
extern const KernelSteps kExecProgram;
extern const KernelSteps kExitProgram;
extern const KernelSteps kExitMmapProgram;
extern const KernelSteps kCloneThreadProgram;
extern const KernelSteps kReclaimProgram;
extern const KernelSteps kNumaHintProgram;
extern const KernelSteps kMigratePagesProgram;
extern const KernelSteps kMergePagesProgram;

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_PROGRAMS_H_
