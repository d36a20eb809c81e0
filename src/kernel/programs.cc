// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/programs.h"

namespace lookaside {
namespace {

const KernelSteps* FlushProgramOf(KernelVersion version) {
  switch (version) {
    case KernelVersion::kLinux3_4:
      return &kFlushProgram34;
    case KernelVersion::kLinux3_6:
    case KernelVersion::kLinux3_17:
      return &kFlushProgram36;
    case KernelVersion::kLinux4_14:
      return &kFlushProgram414;
    case KernelVersion::kLinux5_13:
      return &kFlushProgram513;
    case KernelVersion::kLinux6_15:
      return &kFlushProgram615;
  }
  return nullptr;
}

}  // namespace

KernelPrograms ProgramsOf(const KernelRules& rules) {
  using enum KernelProgram;
  KernelPrograms programs{};
  const auto set = [&](KernelProgram id, const KernelSteps& program) {
    programs[IdOf(id).value()] = &program;
  };
  set(kSyscall, kSyscallProgram);
  set(kFaultEntry, kFaultEntryProgram);
  set(kInterrupt, kInterruptProgram);
  set(kReturnToUser, kReturnProgram);
  set(kFlushTlbMmRange, *FlushProgramOf(rules.version));
  set(kFlushTlbFunc,
      rules.generations ? kFlushFuncProgram414 : kFlushFuncProgram34);
  set(kFlushBatch, kFlushBatchProgram);
  set(kTlbFlushMmu, kTlbFlushMmuProgram);
  set(kSweepDeferred, kSweepDeferredProgram);
  set(kSettleDeferred, kSettleDeferredProgram);
  set(kSchedulerTick, kSchedulerTickProgram);
  set(kSwitchMm, rules.generations ? kSwitchMmProgram414 : kSwitchMmProgram34);
  set(kLeaveMm, kLeaveMmProgram34);
  set(kContextSwitch, kContextSwitchProgram);
  set(kZapRange, kZapRangeProgram);
  set(kSplitHuge, kSplitHugeProgram);
  set(kFaultIn, kFaultInProgram);
  set(kCopyOnWrite, kCopyOnWriteProgram);
  set(kMmap, kMmapProgram);
  set(kMunmap, kMunmapProgram);
  set(kMprotect, kMprotectProgram);
  set(kMremap, kMremapProgram);
  set(kMadviseZap, kMadviseZapProgram);
  set(kMadviseFree, kMadviseFreeProgram);
  set(kMadviseAdvice, kMadviseAdviceProgram);
  set(kCollapse, kCollapseProgram);
  set(kFork, kForkProgram);
  set(kExec, kExecProgram);
  set(kExit, kExitProgram);
  set(kExitMmap, kExitMmapProgram);
  set(kCloneThread, kCloneThreadProgram);
  set(kReclaim, kReclaimProgram);
  set(kNumaHint, kNumaHintProgram);
  set(kMigratePages, kMigratePagesProgram);
  set(kMergePages, kMergePagesProgram);
  return programs;
}

}  // namespace lookaside
