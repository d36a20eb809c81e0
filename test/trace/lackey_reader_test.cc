// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/base/status.h"
#include "lookaside/test/trace/compress.h"
#include "lookaside/trace/byte_source.h"

namespace lookaside {
namespace {

struct Outcome {
  std::vector<TraceEvent> events;  // calls are numbered through
  std::vector<MemoryCall> calls;
  std::string error;
  TraceInfo info;
};

Outcome ReadText(std::string_view text, size_t buffer_events = 100) {
  LackeyReader reader(std::move(ByteSource::FromMemory("mem", text)).value(),
                      "");
  Outcome outcome;
  std::vector<TraceEvent> buffer(buffer_events);
  while (const size_t n = reader.Read(buffer)) {
    for (TraceEvent event : std::span(buffer).first(n)) {
      if (event.kind == EventKind::kCall) {
        outcome.calls.push_back(reader.calls()[event.address.value()]);
        event.address = VirtAddr(outcome.calls.size() - 1);
      }
      outcome.events.push_back(event);
    }
  }
  outcome.error = Message(reader.status());
  outcome.info = reader.info();
  return outcome;
}

uint64_t Skipped(const TraceInfo& info, std::string_view kind) {
  for (const SkippedRecords& skipped : info.skipped) {
    if (skipped.kind == kind) return skipped.count;
  }
  return 0;
}

std::string ToLackey(const std::vector<TraceEvent>& events) {
  constexpr const char* kPrefixes[] = {"I ", " L", " S", " M"};
  std::string text;
  for (const TraceEvent& event : events) {
    text += fmt::format("{} {:08x},{}\n",
                        kPrefixes[static_cast<size_t>(event.kind)],
                        event.address.value(), event.size);
  }
  return text;
}

std::vector<TraceEvent> RandomEvents(uint64_t seed, size_t count) {
  Rng rng(seed);
  std::vector<TraceEvent> events;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = rng.Below(57);
    const uint64_t low = rng.Next() & ((uint64_t{1} << bits) - 1);
    const auto size = static_cast<uint16_t>(1 + rng.Below(65535));
    const uint64_t address =
        rng.Below(8) == 0 ? ~low - 65535 : (low > 65535 ? low - 65535 : low);
    events.push_back(
        {VirtAddr(address), size, static_cast<EventKind>(rng.Below(4)), 0, 0});
  }
  return events;
}

constexpr std::string_view kThreaded =
    "==7== Lackey, an example Valgrind tool\n"
    "==7== \n"
    "--7--   SCHED[1]:  acquired lock (thread_wrapper(starting new thread))\n"
    "I  0401ab70,3\n"
    " S 1ffeff0a08,8\n"
    "SYSCALL[7,1](257) sys_openat ( 4294967196, 0x1(/etc/x), 0 ) --> [async] "
    "... \n"
    "SYSCALL[7,1](257) ... [async] --> Failure(0x2) \n"
    "SYSCALL[7,1](56) sys_clone ( 3d0f00, 0x1, 0x2, 0x3, 0x4 ) --> "
    "[pre-success] Success(0x9) --7--   SCHED[1]: releasing lock "
    "(VG_(vg_yield)) -> VgTs_Yielding\n"
    "--7--   SCHED[2]: entering VG_(scheduler)\n"
    " L 1ffeff0a08,8\n"
    "\n"
    "SB 04020290\n"
    " M 04223abc,4\n";

TEST(LackeyReader, ReadsAccessesAndCountsTheRestByKind) {
  const Outcome outcome = ReadText(kThreaded);
  EXPECT_EQ(outcome.error, "");
  const std::vector<TraceEvent> want = {
      {VirtAddr(0x401ab70), 3, EventKind::kFetch},
      {VirtAddr(0x1ffeff0a08), 8, EventKind::kStore},
      {VirtAddr(0), 0, EventKind::kCall},
      {VirtAddr(0x1ffeff0a08), 8, EventKind::kLoad, 0, 1},
      {VirtAddr(0x4223abc), 4, EventKind::kModify, 0, 1}};
  EXPECT_EQ(outcome.events, want);
  EXPECT_EQ(outcome.info.name, "mem");
  EXPECT_EQ(outcome.info.format, "lackey");
  EXPECT_EQ(outcome.info.bytes, kThreaded.size());
  EXPECT_EQ(outcome.info.events, 4u);
  EXPECT_EQ(outcome.info.accesses, 5u);
  EXPECT_EQ(Skipped(outcome.info, "Valgrind messages"), 2u);
  EXPECT_EQ(Skipped(outcome.info, "scheduling lines"), 2u);
  EXPECT_EQ(Skipped(outcome.info, "system-call lines"), 2u);
  EXPECT_EQ(outcome.info.threads, 2u);
  EXPECT_EQ(Skipped(outcome.info, "superblock lines"), 1u);
  EXPECT_EQ(Skipped(outcome.info, "blank lines"), 1u);
  EXPECT_EQ(outcome.info.skipped.size(), 5u);
}

std::string CallsFile() {
  std::ifstream file("test/trace/corpus/lackey/calls.txt", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty());
  return text.str();
}

// "2 fetch" for an access of thread 2, "0 brk" for a call.
std::vector<std::string> Story(const Outcome& outcome) {
  std::vector<std::string> story;
  for (const TraceEvent& event : outcome.events) {
    const std::string_view name =
        event.kind == EventKind::kCall
            ? Name(outcome.calls[event.address.value()].kind)
            : Name(event.kind);
    story.push_back(fmt::format("{} {}", event.thread, name));
  }
  return story;
}

TEST(LackeyReader, CallsStandAmongTheAccessesOfTheirThreads) {
  const std::string text = CallsFile();
  const Outcome outcome = ReadText(text);
  EXPECT_EQ(outcome.error, "");
  const std::vector<std::string> want = {
      "0 fetch",  "0 brk",    "0 fetch",      "0 store",      "0 mmap",
      "0 brk",    "0 brk",    "0 fetch",      "0 mmap",       "0 mmap",
      "0 mremap", "0 mremap", "0 mprotect",   "0 munmap",     "0 clone",
      "1 fetch",  "0 load",   "1 madvise",    "1 store",      "1 exit",
      "0 modify", "0 fork",   "0 fetch",      "2 exit_group", "0 fork",
      "3 fetch",  "0 clone",  "0 fetch",      "0 execve",     "0 fetch",
      "0 execve", "0 fetch",  "0 exit_group", "3 execve"};
  EXPECT_EQ(Story(outcome), want);
  EXPECT_EQ(outcome.info.events, 13u);
  EXPECT_EQ(outcome.info.accesses, 14u);
  EXPECT_EQ(AllCalls(outcome.info), outcome.calls.size());
  EXPECT_EQ(outcome.info.calls[static_cast<size_t>(CallKind::kBrk)], 3u);
  EXPECT_EQ(outcome.info.failed_calls, 4u);
  EXPECT_EQ(outcome.info.threads, 5u);
  EXPECT_EQ(outcome.info.processes, 3u);
  EXPECT_EQ(Skipped(outcome.info, "system-call lines"), 9u);
  for (const TraceEvent& event : outcome.events) {
    EXPECT_EQ(event.size == 0, event.kind == EventKind::kCall);
  }
}

TEST(LackeyReader, CallsDoNotDependOnTheBuffer) {
  const std::string text = CallsFile();
  const Outcome whole = ReadText(text);
  for (const size_t buffer : {1u, 2u, 7u}) {
    const Outcome pieces = ReadText(text, buffer);
    EXPECT_EQ(pieces.events, whole.events) << buffer;
    EXPECT_EQ(pieces.calls, whole.calls) << buffer;
  }
}

TEST(LackeyReader, ACallsEventIsItsIndexAmongTheCallsOfTheRead) {
  LackeyReader reader(
      std::move(ByteSource::FromMemory(
                    "mem",
                    "I  1000,3\n"
                    "SYSCALL[7,1](12) sys_brk ( 0x0 ) --> [pre-success] "
                    "Success(0x40) \n"
                    "SYSCALL[7,1](12) sys_brk ( 0x80 ) --> [pre-success] "
                    "Success(0x80) \n"))
          .value(),
      "");
  std::vector<TraceEvent> buffer(2);
  ASSERT_EQ(reader.Read(buffer), 2u);
  ASSERT_EQ(reader.calls().size(), 1u);
  EXPECT_EQ(buffer[1].address, VirtAddr(0));
  ASSERT_EQ(reader.Read(buffer), 1u);
  ASSERT_EQ(reader.calls().size(), 1u);
  EXPECT_EQ(buffer[0].address, VirtAddr(0));
  EXPECT_EQ(reader.calls()[0].address, VirtAddr(0x80));
  EXPECT_EQ(reader.Read(buffer), 0u);
  EXPECT_TRUE(reader.calls().empty());
}

TEST(LackeyReader, AnExecveWithoutNewlineEndsARecording) {
  const Outcome outcome = ReadText(
      "I  1000,3\n"
      "SYSCALL[7,1](59) sys_execve ( 0x1(/bin/true), 0x2, 0x3 )");
  EXPECT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.calls.size(), 1u);
  EXPECT_TRUE(outcome.calls[0].succeeded());
}

TEST(LackeyReader, ABrokenCallIsAnErrorWithItsLine) {
  const Outcome outcome = ReadText(
      "I  1000,3\nSYSCALL[7,1](11) sys_munmap ( 0x1000 )[sync] --> "
      "Success(0x0) \n");
  EXPECT_EQ(outcome.events.size(), 1u);
  EXPECT_EQ(outcome.error,
            "mem: line 2: 'SYSCALL[7,1](11) sys_munmap ( 0x1000 )[sync] --> "
            "Success(0x0...' is not a whole munmap call; expected "
            "'SYSCALL[PID,THREAD](NUMBER) sys_munmap ( ADDRESS, LENGTH ) --> "
            "[...] Success(0xRESULT)' or 'Failure(0xERRNO)'");
}

// The warnings of a text, one a line.
std::string WarningsOf(std::string_view text) {
  std::string warnings;
  for (const std::string& warning : ReadText(text).info.warnings) {
    warnings += warning + "\n";
  }
  return warnings;
}

TEST(LackeyReader, WarnsWhereThreadsAreNotKnown) {
  EXPECT_EQ(WarningsOf(kThreaded), "");
  constexpr char kWithout[] =
      "SYSCALL[7,1](3) sys_close ( 3 )[sync] --> Success(0x0) \n"
      "I  0401ab70,3\n"
      "SYSCALL[7,2](3) sys_close ( 3 )[sync] --> Success(0x0) \n";
  EXPECT_EQ(WarningsOf(kWithout),
            "the recording has no scheduling lines: which of its threads made "
            "an access is known only from the last system call; record with "
            "--trace-sched=yes\n");
  const std::string_view one_thread(kWithout);
  EXPECT_EQ(WarningsOf(one_thread.substr(0, one_thread.rfind("SYSCALL"))), "");
}

TEST(LackeyReader, WarnsOfSeveralProcessesThatWrote) {
  const std::string forked =
      "I  0401ab70,3\n"
      "SYSCALL[7,1](57) sys_fork ( )   fork: process 7 created child 8\n"
      " --> [pre-success] Success(0x8) \n"
      "--7--   SCHED[1]: exiting VG_(scheduler)\n";
  EXPECT_EQ(WarningsOf(forked), "");
  EXPECT_EQ(WarningsOf(forked + "--8--   SCHED[1]: exiting VG_(scheduler)\n"),
            "2 processes wrote the recording, and its accesses do not tell "
            "whose they are: each process is taken to go on until another is "
            "named; record with --child-silent-after-fork=yes, or each process "
            "in its own file (--log-file=FILE.%p)\n");
}

TEST(LackeyReader, ABadLineOfAMixedRecordingSaysWhatMayHaveMixedIt) {
  EXPECT_TRUE(
      ReadText("--7--   SCHED[1]: x\n--8--   SCHED[1]: x\n L 04--7\n")
          .error.ends_with("; 2 processes wrote the recording, maybe into each "
                           "other's lines: record each in its own file "
                           "(--log-file=FILE.%p), or the parent alone "
                           "(--child-silent-after-fork=yes)"));
}

// The lines of a child are mixed in before any of them names it.
TEST(LackeyReader, ABadLineAfterAForkSaysWhatMayHaveMixedIt) {
  EXPECT_TRUE(ReadText("SYSCALL[7,1](57) sys_fork ( )   fork: process 7 "
                       "created child 8\n L 04--7\n")
                  .error.ends_with("(--child-silent-after-fork=yes)"));
}

TEST(LackeyReader, WarnsOfCallsWithoutResult) {
  EXPECT_EQ(WarningsOf("I  0401ab70,3\nSYSCALL[7,1](28) sys_madvise ( 0x1000, "
                       "1, 4 ) --> [async] ... \n"),
            "1 memory-management call is left out: no result is in the "
            "recording\n");
}

// Every event in full. Without execve, which the end of a recording completes
// early.
std::vector<std::string> Details(const Outcome& outcome) {
  std::vector<std::string> details;
  for (const TraceEvent& event : outcome.events) {
    const uint64_t address = event.address.value();
    if (event.kind != EventKind::kCall) {
      details.push_back(fmt::format("{} {} {:#x} {}", event.thread,
                                    Name(event.kind), address, event.size));
    } else if (outcome.calls[address].kind != CallKind::kExecve) {
      details.push_back(
          fmt::format("{} {}", event.thread, ToString(outcome.calls[address])));
    }
  }
  return details;
}

// A recording that was cut says so, or cannot be told from a whole one.
TEST(LackeyReader, CutAnywhereReadsWhatStandsBeforeTheCut) {
  // Thousands of readers: their buffers are not given back in between.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  const std::string text = CallsFile();
  const std::vector<std::string> whole = Details(ReadText(text));
  std::ptrdiff_t least = 0;  // of the lines before the cut
#ifdef NDEBUG
  constexpr size_t kStep = 1;
#else
  constexpr size_t kStep = 9;  // checked builds take seconds for the others
#endif
  for (size_t cut = 1; cut < text.size(); cut += kStep) {
    SCOPED_TRACE(cut);
    const std::string_view part = std::string_view(text).substr(0, cut);
    const Outcome outcome = ReadText(part);
    const bool in_mid_record =
        outcome.error.find("ends in mid-record") != std::string::npos;
    const bool warned =
        !outcome.info.warnings.empty() &&
        outcome.info.warnings.back().starts_with("the last line has no");
    if (part.back() != '\n') {
      EXPECT_TRUE(in_mid_record || warned ||
                  outcome.error.find("holds no events") != std::string::npos);
    }
    EXPECT_TRUE(outcome.error.empty() || outcome.events.empty() ||
                in_mid_record)
        << outcome.error;
    const std::vector<std::string> read = Details(outcome);
    const auto [at, at_whole] =
        std::mismatch(read.begin(), read.end(), whole.begin(), whole.end());
    if (part.back() == '\n') least = std::ssize(read);
    EXPECT_GE(at - read.begin(), least);
    // The last digits of the last line may be missing.
    EXPECT_LE(read.end() - at, warned ? 1 : 0);
  }
}

TEST(LackeyReader, AccessBehindASystemCallIsRead) {
  const Outcome outcome = ReadText(
      "SYSCALL[7,1](56) sys_clone ( 3d0f00, 0x1 ) --> [pre-success] "
      "Success(0x9) I  04acb2d0,3\n"
      " S 1ffe,8\n");
  EXPECT_EQ(outcome.error, "");
  const std::vector<TraceEvent> want = {
      {VirtAddr(0), 0, EventKind::kCall},
      {VirtAddr(0x4acb2d0), 3, EventKind::kFetch},
      {VirtAddr(0x1ffe), 8, EventKind::kStore}};
  EXPECT_EQ(outcome.events, want);
  EXPECT_EQ(Skipped(outcome.info, "system-call lines"), 0u);
}

TEST(LackeyReader, CarriageReturnsAreAccepted) {
  const Outcome outcome =
      ReadText("==7== x\r\n\r\nI  0401ab70,3\r\n L 1000,8\r\n");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.events.size(), 2u);
  EXPECT_EQ(Skipped(outcome.info, "blank lines"), 1u);
}

TEST(LackeyReader, BadLineIsNamedAndWhatStandsBeforeItIsRead) {
  const Outcome outcome =
      ReadText("I  0401ab70,3\n==7== x\nhello\x01 world\nI  0401ab73,3\n");
  EXPECT_EQ(outcome.events.size(), 1u);
  EXPECT_EQ(outcome.error,
            "mem: line 3: 'hello\\x01 world' is not a lackey record; expected "
            "'I  ADDRESS,SIZE', ' L ', ' S ' or ' M ' (address in "
            "hexadecimal, size in decimal), a SYSCALL or SCHED line, or a "
            "message of Valgrind ('==pid==')");
}

TEST(LackeyReader, BadValuesAreNamed) {
  EXPECT_EQ(ReadText("I  0401ab70,0\n").error,
            "mem: line 1: 'I  0401ab70,0' has a size outside 1..65535");
  EXPECT_EQ(ReadText("I  0401ab70,3\n L 0100000000000000,8\n").error,
            "mem: line 2: ' L 0100000000000000,8' reaches outside the "
            "canonical addresses of 57 bits");
  EXPECT_EQ(ReadText("SYSCALL[7,1](56) x ) I  04acb2d0,0\n").error,
            "mem: line 1: 'I  04acb2d0,0' has a size outside 1..65535");
}

TEST(LackeyReader, ErrorStays) {
  LackeyReader reader(
      std::move(ByteSource::FromMemory("mem", "hello\nI  0401ab70,3\n"))
          .value(),
      "");
  std::vector<TraceEvent> buffer(10);
  EXPECT_EQ(reader.Read(buffer), 0u);
  EXPECT_EQ(reader.Read(buffer), 0u);
  EXPECT_FALSE(reader.status().ok());
}

TEST(LackeyReader, WholeLastLineWithoutNewlineIsReadWithAWarning) {
  for (const std::string_view text :
       {"I  0401ab70,3\n L 1000,8", "I  0401ab70,3\n==7== x",
        "I  0401ab70,3\r\n L 1000,8\r"}) {
    const Outcome outcome = ReadText(text);
    EXPECT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.info.warnings.size(), 1u);
    EXPECT_EQ(outcome.info.warnings[0],
              "the last line has no newline: the recording may be cut");
  }
}

TEST(LackeyReader, EndInMidRecordSaysWhereAndHowMuchWasRead) {
  const Outcome outcome = ReadText("I  0401ab70,3\n L 1000,8\n S 1fff0");
  EXPECT_EQ(outcome.events.size(), 2u);
  EXPECT_EQ(outcome.error,
            "mem: line 3: the trace ends in mid-record: ' S 1fff0'; 2 events "
            "before it");
}

TEST(LackeyReader, EndAfterTheFirstBlankOfALineIsNoBlankLine) {
  const Outcome outcome = ReadText("I  1000,3\n ");
  EXPECT_EQ(outcome.events.size(), 1u);
  EXPECT_EQ(outcome.error,
            "mem: line 2: the trace ends in mid-record: ' '; 1 event before "
            "it");
  EXPECT_EQ(ReadText("I  1000,3\n\r").error, "");
}

TEST(LackeyReader, NoEventsAreAnError) {
  EXPECT_EQ(ReadText("==7== x\n\n").error,
            "mem: holds no events, only 2 other lines");
  EXPECT_EQ(ReadText("==7== x").error,
            "mem: holds no events, only 1 other line");
}

TEST(LackeyReader, LineLengthIsBounded) {
  const std::string prefix = "==7== ";
  const std::string longest =
      prefix + std::string(LackeyReader::kMaxLineBytes - prefix.size(), 'x');
  EXPECT_EQ(ReadText(longest + "\nI  0401ab70,3\n").error, "");
  for (const std::string& text :
       {"\n" + longest + "x\nI  0401ab70,3\n", "\n" + longest + "x",
        "\n" + longest + std::string(1000000, 'x')}) {
    EXPECT_TRUE(ReadText(text).error.starts_with(
        "mem: line 2: is longer than 65536 bytes: '==7== xxx"));
  }
}

TEST(LackeyReader, CorruptCompressionSaysHowMuchWasRead) {
  std::string bytes =
      Compress("I  0401ab70,3\n L 1000,8\n", Compression::kZstd);
  bytes.pop_back();
  const Outcome outcome = ReadText(bytes);
  EXPECT_EQ(outcome.info.format, "lackey+zst");
  EXPECT_TRUE(outcome.error.ends_with("the file is truncated; " +
                                      std::to_string(outcome.events.size()) +
                                      " events before it"))
      << outcome.error;
}

TEST(LackeyReader, RandomEventsWrittenAreReadBackEqual) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<TraceEvent> events = RandomEvents(seed, 5000);
    const std::string text = ToLackey(events);
    for (const size_t buffer : {size_t{1}, size_t{1000}, size_t{10000}}) {
      const Outcome outcome = ReadText(text, buffer);
      EXPECT_EQ(outcome.error, "");
      EXPECT_TRUE(outcome.events == events) << seed;
    }
  }
}

TEST(LackeyReader, HeadIsReadFirst) {
  LackeyReader reader(
      std::move(ByteSource::FromMemory("mem", "b70,3\n L 1000,8\n")).value(),
      "I  0401a");
  std::vector<TraceEvent> buffer(10);
  EXPECT_EQ(reader.Read(buffer), 2u);
  EXPECT_EQ(buffer[0].address, VirtAddr(0x401ab70));
}

TEST(LackeyReader, MemoryDoesNotGrowWithTheTrace) {
  const std::string member =
      Compress(ToLackey(RandomEvents(1, 100000)), Compression::kGzip);
  std::string bytes;
  for (int i = 0; i < 50; ++i) bytes += member;
  LackeyReader reader(std::move(ByteSource::FromMemory("mem", bytes)).value(),
                      "");
  std::vector<TraceEvent> buffer(1000);
  reader.Read(buffer);
  rusage before;
  getrusage(RUSAGE_SELF, &before);
  uint64_t count = 1000;
  while (const size_t n = reader.Read(buffer)) count += n;
  rusage after;
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(count, 5000000u);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 8 << 10);  // KiB
}

}  // namespace
}  // namespace lookaside
