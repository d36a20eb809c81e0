// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/call_operation.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

MemoryCall Call(CallKind kind) {
  MemoryCall call;
  call.kind = kind;
  call.address = VirtAddr(0x1000);
  call.length = 0x3000;
  call.result = VirtAddr(0x7000);
  call.prot = kProtRead | kProtExec;
  return call;
}

TEST(CallOperation, AMappingIsWhereTheRecordingsKernelPutIt) {
  MemoryCall call = Call(CallKind::kMmap);
  call.flags = kMapShared | kMapAnonymous;
  const Operation operation = OperationOf(call).value();
  EXPECT_EQ(operation.kind, OperationKind::kMmap);
  EXPECT_EQ(operation.address, VirtAddr(0x7000));
  EXPECT_EQ(operation.length, 0x3000u);
  EXPECT_EQ(operation.protection, (Protection{true, false, true}));
  EXPECT_TRUE(operation.shared);
  EXPECT_FALSE(operation.hugetlb);
  call.flags = kMapPrivate | kMapHugeTlb;
  EXPECT_FALSE(OperationOf(call)->shared);
  EXPECT_TRUE(OperationOf(call)->hugetlb);
}

TEST(CallOperation, RangesStayWhereTheyAre) {
  const Operation munmap = OperationOf(Call(CallKind::kMunmap)).value();
  EXPECT_EQ(munmap.kind, OperationKind::kMunmap);
  EXPECT_EQ(munmap.address, VirtAddr(0x1000));
  const Operation mprotect = OperationOf(Call(CallKind::kMprotect)).value();
  EXPECT_EQ(mprotect.kind, OperationKind::kMprotect);
  EXPECT_EQ(mprotect.protection, (Protection{true, false, true}));
}

TEST(CallOperation, AMoveGoesWhereItWent) {
  MemoryCall call = Call(CallKind::kMremap);
  call.new_length = 0x5000;
  call.flags = kMremapMayMove | kMremapDontUnmap;
  const Operation operation = OperationOf(call).value();
  EXPECT_EQ(operation.kind, OperationKind::kMremap);
  EXPECT_EQ(operation.address, VirtAddr(0x1000));
  EXPECT_EQ(operation.new_address, VirtAddr(0x7000));
  EXPECT_EQ(operation.new_length, 0x5000u);
  EXPECT_TRUE(operation.dont_unmap);
}

TEST(CallOperation, AdviceThatChangesNoTranslationIsNone) {
  MemoryCall call = Call(CallKind::kMadvise);
  call.advice = kMadvDontNeed;
  EXPECT_EQ(OperationOf(call)->kind, OperationKind::kMadviseDontNeed);
  call.advice = kMadvFree;
  EXPECT_EQ(OperationOf(call)->kind, OperationKind::kMadviseFree);
  call.advice = kMadvCollapse;
  EXPECT_EQ(OperationOf(call)->kind, OperationKind::kMadviseCollapse);
  call.advice = kMadvSequential;
  EXPECT_FALSE(OperationOf(call).has_value());
}

TEST(CallOperation, TheHeapEndsWhereTheResultSays) {
  EXPECT_EQ(OperationOf(Call(CallKind::kBrk))->address, VirtAddr(0x7000));
}

TEST(CallOperation, WhatFailedOrHadNoLengthIsNone) {
  for (size_t kind = 0; kind < kCallKinds; ++kind) {
    MemoryCall call = Call(static_cast<CallKind>(kind));
    call.error = kErrnoNoMemory;
    EXPECT_FALSE(OperationOf(call).has_value()) << kind;
  }
  MemoryCall empty = Call(CallKind::kMprotect);
  empty.length = 0;
  EXPECT_FALSE(OperationOf(empty).has_value());
}

TEST(CallOperation, ProcessesAndThreadsComeAndGo) {
  EXPECT_EQ(OperationOf(Call(CallKind::kClone))->kind,
            OperationKind::kCloneThread);
  EXPECT_EQ(OperationOf(Call(CallKind::kFork))->kind, OperationKind::kFork);
  EXPECT_EQ(OperationOf(Call(CallKind::kExecve))->kind, OperationKind::kExec);
  EXPECT_EQ(OperationOf(Call(CallKind::kExit))->kind, OperationKind::kExit);
  EXPECT_EQ(OperationOf(Call(CallKind::kExitGroup))->kind,
            OperationKind::kExit);
}

}  // namespace
}  // namespace lookaside
