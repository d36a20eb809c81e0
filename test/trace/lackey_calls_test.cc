// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace lookaside {
namespace {

// Feeds lines; what became complete is "thread: call" each.
class Log {
 public:
  LackeyCalls::Line Take(std::string_view line) {
    const LackeyCalls::Line taken = calls_.Take(line);
    EXPECT_EQ(taken.error, "") << line;
    return taken;
  }

  std::vector<std::string> Done() {
    std::vector<std::string> done;
    for (const MemoryCall& call : calls_.done()) {
      done.push_back(std::to_string(call.thread) + ": " + ToString(call));
    }
    calls_.ClearDone();
    return done;
  }

  LackeyCalls& calls() { return calls_; }
  uint32_t current() const { return calls_.threads().current(); }

 private:
  LackeyCalls calls_;
};

using Done = std::vector<std::string>;

TEST(LackeyCalls, ALineThatHoldsItAllIsComplete) {
  Log log;
  EXPECT_TRUE(log.Take("SYSCALL[7,1](11) sys_munmap ( 0x1000, 4096 )[sync] --> "
                       "Success(0x0) ")
                  .of_memory_call);
  EXPECT_EQ(log.Done(), Done{"0: munmap(0x1000, 4096) = 0"});
}

TEST(LackeyCalls, AFailureIsKeptWithItsError) {
  Log log;
  log.Take(
      "SYSCALL[7,1](9) sys_mmap ( 0x0, 0, 3, 34, 4294967295, 0 ) --> "
      "[pre-fail] Failure(0x16) ");
  ASSERT_EQ(log.calls().done().size(), 1u);
  EXPECT_EQ(log.calls().done()[0].error, 22);
}

TEST(LackeyCalls, OtherCallsAreNone) {
  Log log;
  EXPECT_FALSE(log.Take("SYSCALL[7,1](257) sys_openat ( 4294967196, "
                        "0x1(sys_mmap ( 0x0 ), 0 ) --> [async] ... ")
                   .of_memory_call);
  EXPECT_FALSE(log.Take("SYSCALL[7,1](257) ... [async] --> Failure(0x2) ")
                   .of_memory_call);
  EXPECT_FALSE(log.Take("SYSCALL[7,1](435) unimplemented (by the kernel) "
                        "syscall: 435! (ni_syscall)")
                   .of_memory_call);
  EXPECT_FALSE(log.Take(" --> [pre-fail] Failure(0x26) ").of_memory_call);
  EXPECT_TRUE(log.Done().empty());
}

TEST(LackeyCalls, ACallThatBlocksIsCompleteAtItsReturn) {
  Log log;
  log.Take("--7--   SCHED[1]:  acquired lock (x)");
  log.Take(
      "SYSCALL[7,1](28) sys_madvise ( 0x1000, 65536, 4 ) --> [async] ... ");
  log.Take("--7--   SCHED[2]:  acquired lock (x)");
  log.Take(
      "SYSCALL[7,2](11) sys_munmap ( 0x9000, 4096 )[sync] --> Success(0x0) ");
  EXPECT_EQ(log.Done(), Done{"1: munmap(0x9000, 4096) = 0"});
  EXPECT_TRUE(log.Take("SYSCALL[7,1](28) ... [async] --> Success(0x0) ")
                  .of_memory_call);
  EXPECT_EQ(log.Done(), Done{"0: madvise(0x1000, 65536, MADV_DONTNEED) = 0"});
  EXPECT_EQ(log.current(), 0u);
}

TEST(LackeyCalls, AReturnOfAnotherNumberIsNotItsResult) {
  Log log;
  log.Take(
      "SYSCALL[7,1](28) sys_madvise ( 0x1000, 65536, 4 ) --> [async] ... ");
  EXPECT_FALSE(log.Take("SYSCALL[7,1](202) ... [async] --> Success(0x0) ")
                   .of_memory_call);
  EXPECT_TRUE(log.Done().empty());
}

TEST(LackeyCalls, AMessageCanStandBeforeTheResult) {
  Log log;
  log.Take(
      "SYSCALL[7,1](12) sys_brk ( 0x1000000000000000 )==7== brk segment "
      "overflow in thread #1: can't grow to 0x1000000000000000");
  EXPECT_TRUE(log.Done().empty());
  log.Take(" --> [pre-success] Success(0x4035000) ");
  ASSERT_EQ(log.calls().done().size(), 1u);
  EXPECT_EQ(log.calls().done()[0].error, kErrnoNoMemory);
  EXPECT_EQ(log.Done(), Done{"0: brk(0x1000000000000000) = 0x4035000"});
}

TEST(LackeyCalls, ABrkSucceedsIfItEndsWhereAsked) {
  Log log;
  log.Take("SYSCALL[7,1](12) sys_brk ( 0x0 ) --> [pre-success] Success(0x40) ");
  log.Take(
      "SYSCALL[7,1](12) sys_brk ( 0x80 ) --> [pre-success] Success(0x80) ");
  log.Take("SYSCALL[7,1](12) sys_brk ( 0x1 ) --> [pre-success] Success(0x80) ");
  ASSERT_EQ(log.calls().done().size(), 3u);
  EXPECT_TRUE(log.calls().done()[0].succeeded());
  EXPECT_TRUE(log.calls().done()[1].succeeded());
  EXPECT_FALSE(log.calls().done()[2].succeeded());
}

TEST(LackeyCalls, AnotherCallCanStandBehindAClone) {
  Log log;  // without scheduling lines
  log.Take(
      "SYSCALL[7,2](28) sys_madvise ( 0x1000, 65536, 4 ) --> [async] ... ");
  log.Take(
      "SYSCALL[7,1](56) sys_clone ( 3d0f00, 0x1, 0x2, 0x3, 0x4 ) --> "
      "[pre-success] Success(0x9) SYSCALL[7,2](28) ... [async] --> "
      "Success(0x0) ");
  EXPECT_EQ(log.Done(), (Done{"1: clone(CLONE_VM|CLONE_THREAD|0x3c0e00) = "
                              "thread 2",
                              "0: madvise(0x1000, 65536, MADV_DONTNEED) = 0"}));
  EXPECT_EQ(log.current(), 0u);
}

TEST(LackeyCalls, AnAccessOrASwitchCanStandBehindAClone) {
  Log log;
  EXPECT_EQ(log.Take("SYSCALL[7,1](56) sys_clone ( 3d0f00, 0x1, 0x2 ) --> "
                     "[pre-success] Success(0x9) I  04acb2d0,3")
                .rest,
            "I  04acb2d0,3");
  log.Take(
      "SYSCALL[7,1](56) sys_clone ( 3d0f00, 0x1, 0x2 ) --> [pre-success] "
      "Success(0xa) --7--   SCHED[1]: releasing lock (x)");
  log.Take(
      "--7--   SCHED[3]:  acquired lock (thread_wrapper(starting new "
      "thread))");
  EXPECT_EQ(log.Done(),
            (Done{"0: clone(CLONE_VM|CLONE_THREAD|0x3c0e00) = thread 1",
                  "0: clone(CLONE_VM|CLONE_THREAD|0x3c0e00) = thread 2"}));
  EXPECT_EQ(log.current(), 2u);
}

TEST(LackeyCalls, AForkStandsWhereItsParentTellsOfIt) {
  Log log;
  log.Take(
      "SYSCALL[70,1](57) sys_fork ( )   fork: process 70 created child 71");
  EXPECT_EQ(log.Done(), Done{"0: fork() = thread 1"});
  log.Take(" --> [pre-success] Success(0x47) ");
  EXPECT_EQ(log.current(), 0u);
  log.Take(" --> [pre-success] Success(0x0) ");  // of the child
  log.Take(
      "SYSCALL[71,1](231) exit_group( 0 ) --> [pre-success] Success(0x0) ");
  EXPECT_EQ(log.Done(), Done{"1: exit_group() = ?"});
}

TEST(LackeyCalls, AForkStandsWhereItsChildTellsOfItFirst) {
  Log log;
  log.Take(
      "SYSCALL[70,1](56) sys_clone ( 4111, 0x4844ff0, 0x0, 0x0, 0x0 ) --> "
      "[pre-success] Success(0x0) ");
  EXPECT_EQ(log.Done(), Done{"0: fork(CLONE_VM|CLONE_VFORK|0x11) = thread 1"});
  EXPECT_EQ(log.current(), 1u);
  log.Take(
      "SYSCALL[71,1](59) sys_execve ( 0x1(/bin/sh), 0x2, 0x3 )   clone(fork): "
      "process 70 created child 71");
  EXPECT_EQ(log.current(), 0u);
  // It is the parent's, and does not end the execve.
  log.Take(" --> [pre-success] Success(0x47) ");
  EXPECT_TRUE(log.Done().empty());
  log.calls().Finish();
  EXPECT_EQ(log.Done(), Done{"1: execve() = 0"});
  EXPECT_EQ(log.calls().unfinished(), 0u);
}

TEST(LackeyCalls, AnExecveEndsWhereTheNewProgramBegins) {
  Log log;
  log.Take(
      "SYSCALL[7,1](59) sys_execve ( 0x1(/bin/x), 0x2, 0x3 ) --> "
      "[pre-fail] Failure(0x2) ");
  EXPECT_EQ(log.Done(), Done{"0: execve() = -1 ENOENT"});
  log.Take("SYSCALL[7,1](59) sys_execve ( 0x1(/bin/x), 0x2, 0x3 )==7== Lackey");
  log.calls().TakeMessage("==8== Command: /bin/x");  // another process
  EXPECT_TRUE(log.Done().empty());
  log.calls().TakeMessage("==7== Command: /bin/x");
  EXPECT_EQ(log.Done(), Done{"0: execve() = 0"});
}

TEST(LackeyCalls, AnExecveEndsAtACallOfTheNewProgram) {
  Log log;  // without messages (-q)
  log.Take("SYSCALL[7,1](59) sys_execve ( 0x1(/bin/x), 0x2, 0x3 )");
  log.Take("SYSCALL[7,1](12) sys_brk ( 0x0 ) --> [pre-success] Success(0x40) ");
  EXPECT_EQ(log.Done(), (Done{"0: execve() = 0", "0: brk(0x0) = 0x40"}));
}

TEST(LackeyCalls, ACallWithoutResultIsLeftOutAndCounted) {
  Log log;
  log.Take(
      "SYSCALL[7,1](28) sys_madvise ( 0x1000, 65536, 4 ) --> [async] ... ");
  log.Take("SYSCALL[7,1](3) sys_close ( 3 )[sync] --> Success(0x0) ");
  log.Take(
      "SYSCALL[7,2](28) sys_madvise ( 0x1000, 65536, 4 ) --> [async] ... ");
  EXPECT_EQ(log.calls().unfinished(), 1u);
  log.calls().Finish();
  EXPECT_EQ(log.calls().unfinished(), 2u);
  EXPECT_TRUE(log.Done().empty());
}

TEST(LackeyCalls, SaysWhetherALineBreaksOffWithinACall) {
  for (const std::string_view whole :
       {"SYSCALL[7,1](11) sys_munmap ( 0x1000, 1 )[sync] --> Success(0x0)",
        "SYSCALL[7,1](28) sys_madvise ( 0x1000, 1, 4 ) --> [async] ...",
        "SYSCALL[7,1](59) sys_execve ( 0x1(/bin/x), 0x2, 0x3 )",
        "SYSCALL[7,1](3) sys_close ( 3 )[sync] --> Success(0x0) ",
        "SYSCALL[7,1](0) sys_read ( 3, 0x1, 2 ) --> [async] ... ",
        " --> [pre-fail] Failure(0x26)",
        "   fork: process 7 created child 8"}) {
    EXPECT_TRUE(LackeyCalls().Take(whole).whole) << whole;
  }
  for (const std::string_view cut :
       {"SYSCALL[7,1](11) sys_munmap ( 0x1000, 1 )",
        "SYSCALL[7,1](59) sys_execve ( 0x1(/bin/x)", "SYSCALL[7,1](3) sys_cl",
        "SYSCALL[7,1](3) sys_close ( 3 )",
        "SYSCALL[7,1](3) sys_close ( 3 )[sync] --> Success(0x", " --> [pre",
        "SYSCALL[7,1](0) ... [asy"}) {
    const LackeyCalls::Line line = LackeyCalls().Take(cut);
    EXPECT_FALSE(line.whole) << cut;
    EXPECT_EQ(line.error, "") << cut;
  }
}

TEST(LackeyCalls, ABrokenCallSaysWhatIsExpected) {
  EXPECT_EQ(LackeyCalls().Take("SYSCALL[7,1](11) sys_munmap ( 0x1000 )").error,
            "is not a whole munmap call; expected 'SYSCALL[PID,THREAD](NUMBER) "
            "sys_munmap ( ADDRESS, LENGTH ) --> [...] Success(0xRESULT)' or "
            "'Failure(0xERRNO)'");
  EXPECT_EQ(LackeyCalls().Take("SYSCALL[7;1](11) x").error,
            "is not a whole system-call line; expected 'SYSCALL[PID,THREAD]"
            "(NUMBER) NAME ( ARGUMENTS )'");
  EXPECT_EQ(LackeyCalls().Take("   fork: process x created child 8").error,
            "is not a whole message of a fork; expected '   fork: process PID "
            "created child PID'");
  for (const std::string_view bad :
       {"SYSCALL[7,1](11) sys_munmap ( 0x1000, 1 )[sync] --> Success(0xg)",
        "SYSCALL[7,1](11) sys_munmap ( 0x1000, 1 )[sync] --> Maybe(0x0)",
        "SYSCALL[7,1](11) sys_munmap ( 0x1000, 1 ) hello",
        "SYSCALL[7,1](11) sys_munmap ( 0x1000, 1 )[sync] --> Failure(0x0)",
        "SYSCALL[7,1](11) sys_munmap ( 0x1000, 1 )[sync] --> "
        "Failure(0x1000)"}) {
    EXPECT_NE(LackeyCalls().Take(bad).error, "") << bad;
  }
  LackeyCalls calls;
  calls.Take("SYSCALL[7,1](28) sys_madvise ( 0x1000, 1, 4 ) --> [async] ... ");
  EXPECT_TRUE(calls.Take("SYSCALL[7,1](28) ... [async] --> ")
                  .error.starts_with("is not the whole result of a call of "
                                     "madvise; expected 'SYSCALL"));
  calls.Take("SYSCALL[7,1](12) sys_brk ( 0x0 )==7== x");
  EXPECT_TRUE(calls.Take(" --> [pre-success] Success(")
                  .error.starts_with("is not the whole result of a call of "
                                     "brk; expected ' --> [...]"));
}

}  // namespace
}  // namespace lookaside
