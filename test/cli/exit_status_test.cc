// SPDX-License-Identifier: Apache-2.0
//
// Exit status 1: the command did its work, and what it found is not as it
// should be.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lookaside/test/cli/command_runner.h"
#include "nlohmann/json.hpp"

namespace lookaside {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A page is touched, protected against stores, and stored to: with page-table
// isolation and its fix taken out, the user half keeps the right.
constexpr char kProtect[] =
    "==1== Lackey, an example Valgrind tool\n"
    "SYSCALL[1,1](9) sys_mmap ( 0x0, 4096, 3, 34, 4294967295, 0 ) --> "
    "[pre-success] Success(0x10000000) \n"
    " S 10000000,8\n"
    "SYSCALL[1,1](10) sys_mprotect ( 0x10000000, 4096, 1 )[sync] --> "
    "Success(0x0) \n"
    " L 10000000,8\n";

TEST(ExitStatus, IsZeroWhereNoCheckFoundAnything) {
  const Finished done = RunLookaside(
      {"replay", "-", "--set", "kernel.kpti=true"}, {.input = kProtect});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("checks    no violation\n"));
}

TEST(ExitStatus, IsOneWhereACheckFoundAViolation) {
  const Finished done = RunLookaside(
      {"replay", "-", "--cpu", "skylake-sp", "--set", "kernel.kpti=true",
       "--set", "kernel.unfixed=user_pcid_flush"},
      {.input = kProtect});
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.err, StartsWith("lookaside: "));
  EXPECT_THAT(done.err, HasSubstr("violation"));
  EXPECT_THAT(done.out, HasSubstr("violation"));
  EXPECT_THAT(done.out, HasSubstr("mprotect changed it"));
}

TEST(ExitStatus, IsTwoWhereATraceIsTruncated) {
  // A header of version 1, and no footer.
  const std::string header("\x19\0\0\0\1\0\0\0\0\0\0\0", 12);
  const Finished done = RunLookaside({"trace", "info", "-"}, {.input = header});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.err,
            "lookaside: -: byte 12: the trace ends without its footer: it is "
            "truncated\n");
}

TEST(ExitStatus, IsTwoWhereTheFormatIsNotThatOfTheOption) {
  const Finished done = RunLookaside(
      {"trace", "info", "-", "--format", "drmemtrace"}, {.input = kProtect});
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("is where a trace has its header (25)"));
  EXPECT_EQ(RunLookaside({"trace", "info", "-", "--format", "din"}).err,
            "lookaside: --format din: expected one of lackey, drmemtrace\n");
}

TEST(ExitStatus, OfASweepIsOneWhereAPointHasAViolation) {
  const Finished done = RunLookaside(
      {"sweep", "-", "--cpu", "skylake-sp", "--set", "kernel.kpti=true",
       "--vary", "kernel.unfixed=[],[\"user_pcid_flush\"]", "--json", "-"},
      {.input = kProtect});
  EXPECT_EQ(done.status, 1) << done.err;
  const auto json = nlohmann::ordered_json::parse(done.out);
  EXPECT_EQ(json["points"][0]["result"]["checks"]["violations"], 0);
  EXPECT_GT(json["points"][1]["result"]["checks"]["violations"], 0);
}

}  // namespace
}  // namespace lookaside
