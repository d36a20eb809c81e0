// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_call.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

using State = LackeyResult::State;

TEST(TakeCallHead, ReadsProcessThreadAndNumber) {
  std::string_view text = "SYSCALL[7,12](9) sys_mmap";
  const auto head = TakeCallHead(text);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->pid, 7u);
  EXPECT_EQ(head->tid, 12u);
  EXPECT_EQ(head->number, 9u);
  EXPECT_EQ(text, " sys_mmap");
  for (std::string_view bad :
       {"", "SYSCALL[", "SYSCALL[7", "SYSCALL[7,1", "SYSCALL[7,1](9",
        "SYSCALL[x,1](9)", "SYSCALL[7,1](4294967296)", "SYSCALL[7 1](9)"}) {
    EXPECT_FALSE(TakeCallHead(bad).has_value()) << bad;
  }
}

TEST(TakeSchedulerHead, ReadsProcessAndThreadAlsoBehindATime) {
  for (std::string_view text : {"--7--   SCHED[3]:  acquired lock (x)",
                                "--00:00:00:01.234 7--   SCHED[3]: x"}) {
    const auto head = TakeSchedulerHead(text);
    ASSERT_TRUE(head.has_value()) << text;
    EXPECT_EQ(head->pid, 7u);
    EXPECT_EQ(head->tid, 3u);
  }
  for (std::string_view bad :
       {"--7--   SCHED[", "--7-- SCHED[3]: x", "--x--   SCHED[3]: x",
        "--7--   SCHED[x]: x", "7--   SCHED[3]: x", "--7x--   SCHED[3]: x",
        "--7--"}) {
    EXPECT_FALSE(TakeSchedulerHead(bad).has_value()) << bad;
  }
}

TEST(TakeResult, ReadsEveryForm) {
  struct Case {
    std::string_view text;
    State state;
    bool failed = false;
    uint64_t value = 0;
    std::string_view rest = "";
  };
  for (const Case& c : {
           Case{" --> [pre-success] Success(0x4835000) ", State::kReturned,
                false, 0x4835000},
           Case{" --> [pre-fail] Failure(0x16) ", State::kReturned, true, 22},
           Case{"[sync] --> Success(0x0) ", State::kReturned},
           Case{"[sync] --> Failure(0xc)", State::kReturned, true, 12},
           Case{"[async] --> Success(0x1) ", State::kReturned, false, 1},
           Case{" --> [async] ... ", State::kBlocked},
           Case{" --> [pre-success] Success(0x9) I  04acb2d0,3",
                State::kReturned, false, 9, "I  04acb2d0,3"},
           Case{"", State::kMissing},
           Case{" ", State::kMissing, false, 0, " "},
           Case{"==7== x", State::kMissing, false, 0, "==7== x"},
           Case{" --", State::kBroken, false, 0, " --"},
           Case{"[sy", State::kBroken, false, 0, "[sy"},
           Case{" --> [pre-suc", State::kBroken, false, 0, " --> [pre-suc"},
           Case{"[sync] --> Succ", State::kBroken, false, 0, "[sync] --> Succ"},
           Case{"[sync] --> Success(0x12", State::kBroken, false, 0,
                "[sync] --> Success(0x12"},
       }) {
    std::string_view text = c.text;
    const LackeyResult result = TakeResult(text);
    EXPECT_EQ(result.state, c.state) << c.text;
    EXPECT_EQ(text, c.rest) << c.text;
    if (result.state != State::kReturned) continue;
    EXPECT_EQ(result.failed, c.failed) << c.text;
    EXPECT_EQ(result.value, c.value) << c.text;
  }
}

TEST(TakeForkMessage, ReadsBothForms) {
  for (std::string_view text : {"   fork: process 7 created child 8",
                                "   clone(fork): process 7 created child 8"}) {
    EXPECT_TRUE(IsForkMessage(text));
    const auto fork = TakeForkMessage(text);
    ASSERT_TRUE(fork.has_value());
    EXPECT_EQ(fork->parent, 7u);
    EXPECT_EQ(fork->child, 8u);
    EXPECT_EQ(text, "");
  }
  std::string_view cut = "   fork: process 7 created chi";
  EXPECT_TRUE(IsForkMessage(cut));
  EXPECT_FALSE(TakeForkMessage(cut).has_value());
}

// What `text` is read as; a default call of no known kind fails the test.
MemoryCall Parsed(std::string_view text) {
  const LackeyCallForm* const form = FindCallForm(text);
  EXPECT_NE(form, nullptr) << text;
  if (form == nullptr) return {};
  const auto call = TakeCall(*form, text);
  EXPECT_TRUE(call.has_value()) << text;
  EXPECT_EQ(text, "") << "left over";
  return call.value_or(MemoryCall());
}

TEST(TakeCall, ReadsTheArgumentsOfEveryCall) {
  EXPECT_EQ(Parsed(" sys_mmap ( 0x4838000, 4096, 5, 2066, 4, 8192 )"),
            (MemoryCall{.kind = CallKind::kMmap,
                        .address = VirtAddr(0x4838000),
                        .length = 4096,
                        .offset = 8192,
                        .prot = kProtRead | kProtExec,
                        .flags = kMapPrivate | kMapFixed | 0x800,
                        .fd = 4}));
  EXPECT_EQ(Parsed(" sys_mmap ( 0x0, 8192, 3, 34, 4294967295, 0 )").fd, -1);
  EXPECT_EQ(Parsed(" sys_mmap ( 0x0, 8192, 3, 34, -1, 0 )").fd, -1);
  EXPECT_EQ(Parsed(" sys_munmap ( 0x123, 4096 )"),
            (MemoryCall{.kind = CallKind::kMunmap,
                        .address = VirtAddr(0x123),
                        .length = 4096}));
  EXPECT_EQ(Parsed(" sys_mprotect ( 0x1000, 4096, 1 )"),
            (MemoryCall{.kind = CallKind::kMprotect,
                        .address = VirtAddr(0x1000),
                        .length = 4096,
                        .prot = kProtRead}));
  EXPECT_EQ(Parsed(" sys_mremap ( 0x1000, 4096, 8192, 0x1 )"),
            (MemoryCall{.kind = CallKind::kMremap,
                        .address = VirtAddr(0x1000),
                        .length = 4096,
                        .new_length = 8192,
                        .flags = kMremapMayMove}));
  EXPECT_EQ(Parsed(" sys_mremap ( 0x1000, 4096, 8192, 0x3, 0x7000 )"),
            (MemoryCall{.kind = CallKind::kMremap,
                        .address = VirtAddr(0x1000),
                        .length = 4096,
                        .new_address = VirtAddr(0x7000),
                        .new_length = 8192,
                        .flags = kMremapMayMove | kMremapFixed}));
  EXPECT_EQ(
      Parsed(" sys_brk ( 0x4056000 )"),
      (MemoryCall{.kind = CallKind::kBrk, .address = VirtAddr(0x4056000)}));
  EXPECT_EQ(Parsed(" sys_madvise ( 0x1000, 65536, 4 )"),
            (MemoryCall{.kind = CallKind::kMadvise,
                        .address = VirtAddr(0x1000),
                        .length = 65536,
                        .advice = kMadvDontNeed}));
  EXPECT_EQ(Parsed(" exit( 0 )").kind, CallKind::kExit);
  EXPECT_EQ(Parsed(" exit_group( 3 )").kind, CallKind::kExitGroup);
  EXPECT_EQ(Parsed(" sys_fork ( )").kind, CallKind::kFork);
  EXPECT_EQ(Parsed(" sys_execve ( 0x1(/bin/a,b) c), 0x2, 0x3 )").kind,
            CallKind::kExecve);
}

TEST(TakeCall, ACloneOfAnotherProcessIsAFork) {
  const MemoryCall thread =
      Parsed(" sys_clone ( 3d0f00, 0x529ff70, 0x52a0990, 0x0, 0x52a06c0 )");
  EXPECT_EQ(thread.kind, CallKind::kClone);
  EXPECT_EQ(thread.flags, 0x3d0f00u);
  EXPECT_EQ(Parsed(" sys_clone ( 1200011, 0x0, 0x0, 0x4a2aa10, 0x0 )").kind,
            CallKind::kFork);
  EXPECT_EQ(Parsed(" sys_clone ( 4111, 0x4844ff0, 0x0, 0x0, 0x0 )").kind,
            CallKind::kFork);
}

TEST(TakeCall, RefusesWhatIsNotTheWholeCall) {
  for (std::string_view text :
       {" sys_mmap", " sys_mmap (", " sys_mmap ( 0x0, 8192, 3, 34, 1, 0 ",
        " sys_mmap ( 0x0, 8192, 3, 34, 1 )",
        " sys_mmap ( 0x0, 8192, 3, 34, 1, 0, 7 )",
        " sys_mmap ( 0x0, 8192, 3, x, 1, 0 )",
        " sys_mmap ( 0x0 8192, 3, 34, 1, 0 )", " sys_munmap ( 0x, 1 )",
        " sys_munmap ( 0x10000000000000000, 1 )", " sys_clone ( 3d0f00 )",
        " sys_brk ( )", " exit( )"}) {
    const LackeyCallForm* const form = FindCallForm(text);
    ASSERT_NE(form, nullptr) << text;
    EXPECT_FALSE(TakeCall(*form, text).has_value()) << text;
  }
}

TEST(FindCallForm, KnowsNoOtherCalls) {
  for (const std::string_view text :
       {" sys_read ( 0, 0x1, 8 )", " sys_mmap2 ( 0x0 )", " exit_x( 0 )",
        " unimplemented (by the kernel) syscall: 435! (ni_syscall)", ""}) {
    EXPECT_EQ(FindCallForm(text), nullptr) << text;
  }
}

TEST(SkipCall, EndsBeforeWhateverFollowsTheArguments) {
  for (const std::string_view rest :
       {" --> [pre-fail] Failure(0x2) ", "[sync] --> Success(0x0) ",
        "   clone(fork): process 7 created child 8", "--7--   SCHED[1]: x",
        "==7== Lackey", ""}) {
    const std::string line =
        " sys_execve ( 0x1(/bin/x), 0x2, 0x3 )" + std::string(rest);
    std::string_view text = line;
    SkipCall(text);
    EXPECT_EQ(text, rest);
  }
}

}  // namespace
}  // namespace lookaside
