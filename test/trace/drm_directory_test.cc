// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "lookaside/test/trace/compress.h"
#include "lookaside/test/trace/drm_bytes.h"
#include "lookaside/test/trace/read_all.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

namespace fs = std::filesystem;

class DrmDirectoryTest : public testing::Test {
 protected:
  DrmDirectoryTest()
      : path_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }

  void Write(const std::string& name, std::string_view bytes) {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

  // Threads 100 and 101, two instructions each; the order of the addresses is
  // that of the timestamps.
  void WriteTwoThreads(const std::string& prefix = "") {
    Write(prefix + "a.trace", DrmBytes()
                                  .Begin(7)
                                  .Time(10)
                                  .Instr(0x1000)
                                  .Time(40)
                                  .Instr(0x4000)
                                  .End()
                                  .text());
    Write(prefix + "b.trace.gz", Compress(DrmBytes()
                                              .Begin(7, 0x40, 101)
                                              .Time(20)
                                              .Instr(0x2000)
                                              .Time(30)
                                              .Instr(0x3000)
                                              .End(101)
                                              .text(),
                                          Compression::kGzip));
  }

  WholeTrace ReadDirectory(ThreadOrder order = ThreadOrder::kTimestamps,
                           size_t buffer = 3) {
    TraceOptions options;
    options.order = order;
    return ReadAll(OpenTrace(path_.string(), options), buffer);
  }

  static std::vector<uint64_t> Addresses(const WholeTrace& whole) {
    std::vector<uint64_t> addresses;
    for (const TraceEvent& event : whole.events) {
      addresses.push_back(event.address.value());
    }
    return addresses;
  }

  const fs::path path_;
};

using Expected = std::vector<uint64_t>;

std::string Switch(uint64_t tid, uint64_t timestamp, uint64_t cpu,
                   uint64_t first) {
  std::string bytes;
  for (const uint64_t value : {tid, timestamp, cpu, first}) {
    for (int i = 0; i < 8; ++i) {
      bytes += static_cast<char>((value >> (8 * i)) & 0xff);
    }
  }
  return bytes;
}

TEST_F(DrmDirectoryTest, FilesAreMergedByTimestamp) {
  WriteTwoThreads();
  for (const size_t buffer : {size_t{1}, size_t{2}, size_t{100}}) {
    const WholeTrace whole = ReadDirectory(ThreadOrder::kTimestamps, buffer);
    EXPECT_EQ(whole.error, "");
    EXPECT_EQ(Addresses(whole), (Expected{0x1000, 0x2000, 0x3000, 0x4000}));
    EXPECT_EQ(whole.events[1].thread, 1u);
    EXPECT_EQ(whole.info.name, path_.string());
    EXPECT_EQ(whole.info.threads, 2u);
    EXPECT_TRUE(whole.Warns("2 files are merged by their timestamps"));
    EXPECT_EQ(whole.Skipped("timestamp markers"), 0u);
  }
}

TEST_F(DrmDirectoryTest, EqualTimestampsAreInTheOrderOfNames) {
  for (const std::string name : {"b", "a"}) {
    const uint64_t at = name == "a" ? 0x1000 : 0x2000;
    Write(name, DrmBytes()
                    .Begin(7)
                    .Time(10)
                    .Instr(at)
                    .Time(10)
                    .Instr(at + 4)
                    .End()
                    .text());
  }
  const WholeTrace whole = ReadDirectory();
  EXPECT_EQ(Addresses(whole), (Expected{0x1000, 0x1004, 0x2000, 0x2004}));
  // The same number in two files: two threads.
  EXPECT_EQ(whole.info.threads, 2u);
}

TEST_F(DrmDirectoryTest, TheFolderTraceIsFoundAndOtherFilesAreNamed) {
  WriteTwoThreads("trace/");
  Write("trace/funclist.log", "0,libc.so!malloc\n");
  Write("raw/x.raw", "raw");
  const WholeTrace whole = ReadDirectory();
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(whole.events.size(), 4u);
  EXPECT_TRUE(whole.Warns("not read: funclist.log"));
}

TEST_F(DrmDirectoryTest, SerialScheduleIsFollowed) {
  WriteTwoThreads();
  Write("serial_schedule.bin.gz",
        Compress(Switch(101, 20, 0, 0) + Switch(100, 22, 0, 0) +
                     Switch(101, 30, 0, 1) + Switch(100, 40, 0, 1),
                 Compression::kGzip));
  const WholeTrace whole = ReadDirectory(ThreadOrder::kSerialSchedule);
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(Addresses(whole), (Expected{0x2000, 0x1000, 0x3000, 0x4000}));
  EXPECT_FALSE(whole.Warns("merged by"));
}

TEST_F(DrmDirectoryTest, CpuScheduleIsMergedByTimestamp) {
  WriteTwoThreads();
  Write("cpu_schedule.bin.zip",
        Zip({{"7", Switch(101, 20, 7, 0)}, {"2", Switch(100, 50, 2, 0)}}));
  const WholeTrace whole = ReadDirectory(ThreadOrder::kCpuSchedule);
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(Addresses(whole), (Expected{0x2000, 0x3000, 0x1000, 0x4000}));
}

TEST_F(DrmDirectoryTest, ThreadsThatTheScheduleLeavesOutComeLast) {
  WriteTwoThreads();
  Write("serial_schedule.bin.gz", Switch(101, 20, 0, 0));
  EXPECT_EQ(Addresses(ReadDirectory(ThreadOrder::kSerialSchedule)),
            (Expected{0x2000, 0x3000, 0x1000, 0x4000}));
}

TEST_F(DrmDirectoryTest, SchedulesOfOtherFilesAreErrors) {
  WriteTwoThreads();
  const auto error = [this](const std::string& schedule) {
    Write("serial_schedule.bin.gz", schedule);
    return ReadDirectory(ThreadOrder::kSerialSchedule).error;
  };
  const std::string start = path_.string() + ": the schedule lets thread ";
  EXPECT_EQ(error(Switch(7, 20, 0, 0)),
            start +
                "7 go on at instruction 0, of which there is no file: it "
                "is not the schedule of these files");
  EXPECT_EQ(error(Switch(100, 20, 0, 5)),
            start +
                "100 go on at instruction 5, but its file is at "
                "instruction 0: it is not the schedule of these files");
  const std::string file = (path_ / "serial_schedule.bin.gz").string();
  EXPECT_EQ(error(Switch(100, 20, 0, 1) + Switch(100, 21, 0, 0)),
            file +
                ": thread 100 goes from instruction 1 back to 0: the "
                "schedule is damaged");
  EXPECT_EQ(error(Switch(100, 20, 0, 0).substr(0, 31)),
            file +
                ": byte 0 unpacked: the schedule ends within a record of 32 "
                "bytes: it is truncated");
  fs::remove(file);
  EXPECT_EQ(ReadDirectory(ThreadOrder::kSerialSchedule).error,
            file + ": cannot be opened: No such file or directory");
}

TEST_F(DrmDirectoryTest, DirectoriesWithoutATraceAreErrors) {
  const std::string name = path_.string();
  EXPECT_EQ(ReadDirectory().error,
            name +
                ": is a directory without a drmemtrace final trace in it or "
                "in its folder trace");
  Write("raw/x.raw", "raw");
  EXPECT_EQ(ReadDirectory().error,
            name +
                ": holds a raw trace only: make it a final one first "
                "(drraw2trace -indir " +
                name + ")");
}

TEST_F(DrmDirectoryTest, ABrokenFileIsAnErrorThatNamesIt) {
  WriteTwoThreads();
  Write("c.trace", DrmBytes().Begin(7, 0x40, 102).Time(5).Instr(1).text());
  EXPECT_EQ(ReadDirectory().error,
            (path_ / "c.trace").string() +
                ": byte 96: the trace ends without its footer: it is "
                "truncated");
}

TEST_F(DrmDirectoryTest, AnEmptyFileAmongTracesIsAnError) {
  Write("empty.trace", "");
  EXPECT_TRUE(ReadDirectory().error.starts_with(path_.string() + ": is a dir"));
  WriteTwoThreads();
  EXPECT_EQ(ReadDirectory().error,
            (path_ / "empty.trace").string() + ": is empty");
}

TEST_F(DrmDirectoryTest, OptionsThatDoNotFitAreErrors) {
  WriteTwoThreads();
  TraceOptions options;
  options.format = TraceFormat::kLackey;
  EXPECT_EQ(ReadAll(OpenTrace(path_.string(), options)).error,
            path_.string() +
                ": is a directory; only drmemtrace's traces are "
                "directories");
  options = {};
  options.order = ThreadOrder::kSerialSchedule;
  const std::string file = (path_ / "a.trace").string();
  EXPECT_EQ(ReadAll(OpenTrace(file, options)).error,
            file +
                ": is one file; a schedule orders the files of a directory "
                "(--thread-order)");
}

TEST_F(DrmDirectoryTest, FilesWithoutTimestampsComeFirst) {
  WriteTwoThreads();
  Write("c", DrmBytes().Begin(7, 0x40, 102).Instr(0x9000).End(102).text());
  const WholeTrace whole = ReadDirectory();
  EXPECT_EQ(Addresses(whole),
            (Expected{0x9000, 0x1000, 0x2000, 0x3000, 0x4000}));
  EXPECT_TRUE(whole.Warns("1 without timestamps comes first"));
}

}  // namespace
}  // namespace lookaside
