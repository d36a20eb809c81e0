// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
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
  std::vector<TraceEvent> events;
  std::string error;
  TraceInfo info;
};

Outcome ReadText(std::string_view text, size_t buffer_events = 100) {
  LackeyReader reader(std::move(ByteSource::FromMemory("mem", text)).value(),
                      "");
  Outcome outcome;
  std::vector<TraceEvent> buffer(buffer_events);
  while (const size_t n = reader.Read(buffer)) {
    outcome.events.insert(outcome.events.end(), buffer.begin(),
                          buffer.begin() + static_cast<ptrdiff_t>(n));
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
      {VirtAddr(0x1ffeff0a08), 8, EventKind::kLoad},
      {VirtAddr(0x4223abc), 4, EventKind::kModify}};
  EXPECT_EQ(outcome.events, want);
  EXPECT_EQ(outcome.info.name, "mem");
  EXPECT_EQ(outcome.info.format, "lackey");
  EXPECT_EQ(outcome.info.bytes, kThreaded.size());
  EXPECT_EQ(outcome.info.events, 4u);
  EXPECT_EQ(outcome.info.accesses, 5u);
  EXPECT_EQ(Skipped(outcome.info, "Valgrind messages"), 2u);
  EXPECT_EQ(Skipped(outcome.info, "scheduling lines"), 2u);
  EXPECT_EQ(Skipped(outcome.info, "system-call lines"), 3u);
  EXPECT_EQ(Skipped(outcome.info, "superblock lines"), 1u);
  EXPECT_EQ(Skipped(outcome.info, "blank lines"), 1u);
  EXPECT_EQ(outcome.info.skipped.size(), 5u);
}

TEST(LackeyReader, WarnsOfThreadsAndSystemCalls) {
  const Outcome threaded = ReadText(kThreaded);
  ASSERT_EQ(threaded.info.warnings.size(), 2u);
  EXPECT_EQ(threaded.info.warnings[0],
            "the recording has several threads; they are played as one");
  EXPECT_EQ(threaded.info.warnings[1],
            "system-call lines are skipped: memory-management calls of the "
            "recording are not applied");
  const Outcome single =
      ReadText("--7--   SCHED[1]: entering VG_(scheduler)\nI  0401ab70,3\n");
  EXPECT_TRUE(single.info.warnings.empty());
}

TEST(LackeyReader, AccessBehindASystemCallIsRead) {
  const Outcome outcome = ReadText(
      "SYSCALL[7,1](56) sys_clone ( 3d0f00, 0x1 ) --> [pre-success] "
      "Success(0x9) I  04acb2d0,3\n"
      " S 1ffe,8\n");
  EXPECT_EQ(outcome.error, "");
  const std::vector<TraceEvent> want = {
      {VirtAddr(0x4acb2d0), 3, EventKind::kFetch},
      {VirtAddr(0x1ffe), 8, EventKind::kStore}};
  EXPECT_EQ(outcome.events, want);
  EXPECT_EQ(Skipped(outcome.info, "system-call lines"), 1u);
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
