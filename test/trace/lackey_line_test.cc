// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_line.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace lookaside {
namespace {

// Whether the text is one whole access line, and which.
std::optional<TraceEvent> Parse(std::string text) {
  const size_t size = text.size();
  text.append(kLackeyPadding, '\0');
  TraceEvent event;
  const char* const next = ParseAccessLine(text.data(), &event);
  if (next == nullptr) return std::nullopt;
  EXPECT_EQ(next, text.data() + size);
  return event;
}

TEST(ParseAccessLine, ReadsEveryKind) {
  EXPECT_EQ(Parse("I  0401ab70,3\n"),
            (TraceEvent{VirtAddr(0x401ab70), 3, EventKind::kFetch}));
  EXPECT_EQ(Parse(" L 1fff000708,8\n"),
            (TraceEvent{VirtAddr(0x1fff000708), 8, EventKind::kLoad}));
  EXPECT_EQ(Parse(" S 1fff000708,16\n"),
            (TraceEvent{VirtAddr(0x1fff000708), 16, EventKind::kStore}));
  EXPECT_EQ(Parse(" M 04223abc,4\r\n"),
            (TraceEvent{VirtAddr(0x4223abc), 4, EventKind::kModify}));
}

TEST(ParseAccessLine, TakesAddressesAndSizesUpToTheirLimits) {
  EXPECT_EQ(Parse(" L 0,1\n")->address, VirtAddr(0));
  EXPECT_EQ(Parse(" L 00ffffffffffffff,1\n")->address,
            VirtAddr(0x00ffffffffffffff));
  EXPECT_EQ(Parse(" L ff00000000000000,1\n")->address,
            VirtAddr(0xff00000000000000));
  EXPECT_EQ(Parse(" L ffffffffffffffff,1\n")->address,
            VirtAddr(0xffffffffffffffff));
  EXPECT_EQ(Parse(" L 1000,65535\n")->size, 65535);
}

TEST(ParseAccessLine, RefusesWhatIsNotAWholeValidAccess) {
  for (const char* text : {"",
                           "\n",
                           "I  0401ab70,3",
                           "I 0401ab70,3\n",
                           "I   0401ab70,3\n",
                           " I 0401ab70,3\n",
                           "L  0401ab70,3\n",
                           " X 0401ab70,3\n",
                           " i 0401ab70,3\n",
                           " L ,3\n",
                           " L 0401ab70,\n",
                           " L 0401ab70\n",
                           " L 0401AB70,3\n",
                           " L 0x401ab7,3\n",
                           " L 0401ab70 3\n",
                           " L 0401ab70,-3\n",
                           " L 0401ab70,3 \n",
                           " L 0401ab70,3x\n",
                           " L 0401ab70,0\n",
                           " L 0401ab70,65536\n",
                           " L 0401ab70,4294967297\n",
                           " L 10000000000000000,1\n",
                           " L 0100000000000000,1\n",
                           " L feffffffffffffff,1\n",
                           " L ffffffffffffffff,2\n",
                           " L 00ffffffffffffff,2\n",
                           " L feffffffffffffff,2\n",
                           " L 0401ab70,3\r",
                           " L 0401ab70,3\r\r\n"}) {
    EXPECT_EQ(Parse(text), std::nullopt) << text;
  }
}

TEST(ClassifyLackeyLine, KnowsEveryLineThatValgrindWrites) {
  struct Case {
    const char* line;
    LackeyLine want;
  };
  const Case kCases[] = {
      {"", LackeyLine::kBlank},
      {" ", LackeyLine::kBlank},
      {"==7== ", LackeyLine::kValgrind},
      {"==7== Command: /bin/true", LackeyLine::kValgrind},
      {"==00:00:00:01.234 7== Command: /bin/true", LackeyLine::kValgrind},
      {"--7-- Reading syms from /bin/true", LackeyLine::kValgrind},
      {"**7** printed by a client request", LackeyLine::kValgrind},
      {"--7--   SCHED[1]: entering VG_(scheduler)", LackeyLine::kScheduling},
      {"SCHEDSETJMP(line 1100) tid 1, jumped=0", LackeyLine::kScheduling},
      {"SYSCALL[7,1](3) sys_close ( 3 )[sync] --> Success(0x0) ",
       LackeyLine::kSystemCall},
      {"SYSCALL[7,1](257) ... [async] --> Failure(0x2) ",
       LackeyLine::kSystemCall},
      {"SYSCALL[7,1](334) unimplemented (by the kernel) syscall: 334! "
       "(ni_syscall)",
       LackeyLine::kSystemCall},
      {" --> [pre-fail] Failure(0x26) ", LackeyLine::kSystemCall},
      {"   clone(fork): process 7 created child 8", LackeyLine::kSystemCall},
      {"   fork: process 7 created child 8", LackeyLine::kSystemCall},
      {"SB 04020290", LackeyLine::kSuperblock},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(ClassifyLackeyLine(c.line), c.want) << c.line;
  }
}

TEST(ClassifyLackeyLine, EverythingElseIsOther) {
  for (const char* line :
       {"I  0401ab70,3", "hello", "==", "====", "==x==", "==7", "==7--",
        "==7=", "-- 7 -", "SYSCALL", "SB ", "SB xyz", "SB 04020290,3", " -->",
        "\t", "SCHED[1]:"}) {
    EXPECT_EQ(ClassifyLackeyLine(line), LackeyLine::kOther) << line;
  }
}

TEST(GluedAccess, IsFoundBehindASystemCall) {
  EXPECT_EQ(GluedAccess("SYSCALL[7,1](56) sys_clone ( 3d0f00, 0x1, 0x2 ) --> "
                        "[pre-success] Success(0x9) I  04acb2d0,3"),
            "I  04acb2d0,3");
  EXPECT_EQ(GluedAccess("SYSCALL[7,1](56) sys_clone ( 11, 0x0 ) L 1ffe,8"),
            " L 1ffe,8");
  EXPECT_EQ(GluedAccess("SYSCALL[7,1](3) sys_close ( 3 )[sync] --> "
                        "Success(0x0) "),
            std::nullopt);
  EXPECT_EQ(GluedAccess("SYSCALL[7,1](9) sys_mmap ( 0x0, 8192, 3"),
            std::nullopt);
  EXPECT_EQ(GluedAccess(""), std::nullopt);
  EXPECT_EQ(GluedAccess(",3"), std::nullopt);
  EXPECT_EQ(GluedAccess("a,3"), std::nullopt);
  EXPECT_EQ(GluedAccess("SYSCALL[7,1](9) L ,3"), " L ,3");
}

TEST(BeginsAsAccess, ByTheThreeFirstCharacters) {
  for (const char* text : {"I  0401ab70,3", " L x", " S ", " M "}) {
    EXPECT_TRUE(BeginsAsAccess(text)) << text;
  }
  for (const char* text : {"", " L", "I 0401ab70,3", "SYSCALL[7"}) {
    EXPECT_FALSE(BeginsAsAccess(text)) << text;
  }
}

TEST(WhyNotAnAccess, SaysWhatIsWrong) {
  EXPECT_EQ(WhyNotAnAccess(" L 0401ab70,0"), "has a size outside 1..65535");
  EXPECT_EQ(WhyNotAnAccess(" L 0401ab70,65536"), "has a size outside 1..65535");
  EXPECT_EQ(WhyNotAnAccess(" L 0401ab70,99999999999"),
            "has a size outside 1..65535");
  EXPECT_EQ(WhyNotAnAccess(" L 12345678901234567,1"),
            "has an address of more than 64 bits");
  EXPECT_EQ(WhyNotAnAccess(" L 8000000000000000,1"),
            "reaches outside the canonical addresses of 57 bits");
  for (const char* line : {"", "x", " L", " L ,1", " L 1,", " L 1,x", " L x,1",
                           " L 1", " X 1,1"}) {
    EXPECT_TRUE(WhyNotAnAccess(line).starts_with("is not a lackey record"))
        << line;
  }
}

TEST(LooksLikeLackey, ByTheBeginning) {
  EXPECT_TRUE(LooksLikeLackey("==7== Lackey"));
  EXPECT_TRUE(LooksLikeLackey("\r\n\nI  0401ab70,3\n"));
  EXPECT_TRUE(LooksLikeLackey("\n"));
  EXPECT_FALSE(LooksLikeLackey("0 401000\n"));
  EXPECT_FALSE(
      LooksLikeLackey("\x7f"
                      "ELF"));
}

}  // namespace
}  // namespace lookaside
