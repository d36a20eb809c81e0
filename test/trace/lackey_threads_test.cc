// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_threads.h"

#include <gtest/gtest.h>

namespace lookaside {
namespace {

using Named = LackeyThreads::Named;

TEST(LackeyThreads, AreNumberedInOrderOfAppearance) {
  LackeyThreads threads;
  EXPECT_EQ(threads.current(), 0u);
  EXPECT_EQ(threads.threads(), 0u);
  threads.Run(7, 3, Named::kRunning);
  EXPECT_EQ(threads.current(), 0u);
  threads.Run(7, 1, Named::kRunning);
  EXPECT_EQ(threads.current(), 1u);
  threads.Run(7, 3, Named::kCalling);
  EXPECT_EQ(threads.current(), 0u);
  EXPECT_EQ(threads.threads(), 2u);
  EXPECT_EQ(threads.processes(), 1u);
}

TEST(LackeyThreads, ACloneGetsTheLowestFreeNumberOfValgrind) {
  LackeyThreads threads;
  threads.Run(7, 1, Named::kStarting);
  EXPECT_EQ(threads.Clone(), 1u);
  EXPECT_EQ(threads.Clone(), 2u);
  EXPECT_EQ(threads.threads(), 1u);  // the others have not run
  threads.Run(7, 3, Named::kStarting);
  EXPECT_EQ(threads.current(), 2u);
  threads.Run(7, 2, Named::kStarting);
  EXPECT_EQ(threads.current(), 1u);
  EXPECT_EQ(threads.threads(), 3u);
}

TEST(LackeyThreads, ANumberUsedAgainIsAnotherThread) {
  LackeyThreads threads;
  threads.Run(7, 1, Named::kStarting);
  EXPECT_EQ(threads.Clone(), 1u);
  threads.Run(7, 2, Named::kStarting);
  threads.Exit();
  threads.Run(7, 2, Named::kRunning);  // "exiting"
  EXPECT_EQ(threads.current(), 1u);
  threads.Run(7, 1, Named::kRunning);
  EXPECT_EQ(threads.Clone(), 2u);
  threads.Run(7, 2, Named::kStarting);
  EXPECT_EQ(threads.current(), 2u);
}

TEST(LackeyThreads, AThreadThatStartsTwiceIsTwo) {
  LackeyThreads threads;  // without system calls
  threads.Run(7, 1, Named::kStarting);
  threads.Run(7, 2, Named::kStarting);
  threads.Run(7, 1, Named::kRunning);
  threads.Run(7, 2, Named::kStarting);
  EXPECT_EQ(threads.current(), 2u);
}

TEST(LackeyThreads, ACallOfAThreadThatEndedIsOfAnother) {
  LackeyThreads threads;  // without scheduling lines
  threads.Run(7, 1, Named::kCalling);
  threads.Run(7, 2, Named::kCalling);
  threads.Exit();
  threads.Run(7, 2, Named::kCalling);
  EXPECT_EQ(threads.current(), 2u);
}

TEST(LackeyThreads, AForkIsTheNextProcessThatIsNamed) {
  LackeyThreads threads;
  threads.Run(7, 1, Named::kRunning);
  EXPECT_EQ(threads.Clone(), 1u);
  threads.Run(7, 2, Named::kRunning);
  EXPECT_EQ(threads.Fork(), 2u);
  EXPECT_EQ(threads.processes(), 1u);  // the child has not run
  threads.Run(8, 2, Named::kCalling);  // Valgrind's number stays
  EXPECT_EQ(threads.current(), 2u);
  EXPECT_EQ(threads.current_process(), 1u);
  EXPECT_EQ(threads.processes(), 2u);
  threads.Run(7, 1, Named::kRunning);
  EXPECT_EQ(threads.current(), 0u);
}

TEST(LackeyThreads, AForkThatRunsFirstIsNamedAfterwards) {
  LackeyThreads threads;
  threads.Run(7, 1, Named::kRunning);
  EXPECT_EQ(threads.Fork(), 1u);
  threads.RunFork();
  EXPECT_EQ(threads.current(), 1u);
  threads.NameFork(8);
  threads.RunProcess(threads.Find(7).value());
  EXPECT_EQ(threads.current(), 0u);
  EXPECT_EQ(threads.Find(8), 1u);
  EXPECT_EQ(threads.Find(9), std::nullopt);
}

TEST(LackeyThreads, ANewProgramRunsInTheThreadThatBeganIt) {
  LackeyThreads threads;
  threads.Run(7, 1, Named::kStarting);
  EXPECT_EQ(threads.Clone(), 1u);
  threads.Run(7, 2, Named::kStarting);
  threads.Exec(0, 1);
  threads.Run(7, 1, Named::kStarting);  // as Valgrind says of it
  EXPECT_EQ(threads.current(), 1u);
  EXPECT_EQ(threads.threads(), 2u);
  EXPECT_EQ(threads.Clone(), 2u);  // Valgrind's 2 is free again
  threads.Run(7, 2, Named::kStarting);
  EXPECT_EQ(threads.current(), 2u);
}

}  // namespace
}  // namespace lookaside
