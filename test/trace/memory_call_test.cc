// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/memory_call.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lookaside {
namespace {

MemoryCall Mmap() {
  return {.kind = CallKind::kMmap,
          .length = 8192,
          .result = VirtAddr(0x4835000),
          .prot = kProtRead | kProtWrite,
          .flags = kMapPrivate | kMapAnonymous};
}

TEST(MemoryCall, IsPrintedAsStraceDoes) {
  EXPECT_EQ(ToString(Mmap()),
            "mmap(0x0, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, "
            "-1, 0) = 0x4835000");
  EXPECT_EQ(ToString({.kind = CallKind::kMunmap,
                      .address = VirtAddr(0x1000),
                      .length = 4096}),
            "munmap(0x1000, 4096) = 0");
  EXPECT_EQ(ToString({.kind = CallKind::kMprotect,
                      .address = VirtAddr(0x1000),
                      .length = 4096}),
            "mprotect(0x1000, 4096, PROT_NONE) = 0");
  EXPECT_EQ(ToString({.kind = CallKind::kMremap,
                      .address = VirtAddr(0x1000),
                      .length = 4096,
                      .new_address = VirtAddr(0x7000),
                      .new_length = 8192,
                      .result = VirtAddr(0x7000),
                      .flags = kMremapMayMove | kMremapFixed}),
            "mremap(0x1000, 4096, 8192, MREMAP_MAYMOVE|MREMAP_FIXED, 0x7000) = "
            "0x7000");
  EXPECT_EQ(ToString({.kind = CallKind::kMadvise,
                      .address = VirtAddr(0x1000),
                      .length = 4096,
                      .advice = kMadvDontNeed}),
            "madvise(0x1000, 4096, MADV_DONTNEED) = 0");
  EXPECT_EQ(ToString({.kind = CallKind::kClone,
                      .flags = kCloneFlagVm | kCloneFlagThread,
                      .child = 3}),
            "clone(CLONE_VM|CLONE_THREAD) = thread 3");
  EXPECT_EQ(ToString({.kind = CallKind::kFork}), "fork() = an unknown thread");
  EXPECT_EQ(ToString({.kind = CallKind::kExitGroup}), "exit_group() = ?");
}

TEST(MemoryCall, NumbersWithoutANameAreKept) {
  MemoryCall call = Mmap();
  call.prot = kProtRead | 0x1000000;
  call.flags = kMapType;
  EXPECT_EQ(ToString(call),
            "mmap(0x0, 8192, PROT_READ|0x1000000, 0xf, -1, 0) = 0x4835000");
  EXPECT_EQ(ToString({.kind = CallKind::kMadvise, .advice = 999}),
            "madvise(0x0, 0, 999) = 0");
  EXPECT_EQ(ToString({.kind = CallKind::kMunmap, .error = 4000}),
            "munmap(0x0, 0) = -1 4000");
}

TEST(MemoryCall, AFailureShowsItsError) {
  MemoryCall call = Mmap();
  call.error = 22;
  EXPECT_FALSE(call.succeeded());
  EXPECT_TRUE(ToString(call).ends_with(") = -1 EINVAL"));
}

TEST(MemoryCall, ABrkThatFailsAnswersWithTheOldEnd) {
  const MemoryCall call{.kind = CallKind::kBrk,
                        .error = kErrnoNoMemory,
                        .address = VirtAddr(0x9000),
                        .result = VirtAddr(0x5000)};
  EXPECT_FALSE(call.succeeded());
  EXPECT_EQ(ToString(call), "brk(0x9000) = 0x5000");
}

TEST(MemoryCall, AnonymousIsWhatTheFlagsSay) {
  MemoryCall call = Mmap();
  EXPECT_TRUE(call.anonymous());
  call.flags = kMapPrivate;
  EXPECT_FALSE(call.anonymous());
}

TEST(CallKind, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (size_t i = 0; i < kCallKinds; ++i) {
    names.emplace(Name(static_cast<CallKind>(i)));
  }
  EXPECT_EQ(names.size(), kCallKinds);
}

}  // namespace
}  // namespace lookaside
