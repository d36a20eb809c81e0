// SPDX-License-Identifier: Apache-2.0
// Native traces: what is written is read again, and whatever is not as it was
// written is an error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/rng.h"
#include "lookaside/base/status.h"
#include "lookaside/test/trace/read_all.h"
#include "lookaside/trace/lkt_events.h"
#include "lookaside/trace/lkt_footer.h"
#include "lookaside/trace/lkt_format.h"
#include "lookaside/trace/lkt_reader.h"
#include "lookaside/trace/lkt_writer.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_options.h"
#include "lookaside/trace/trace_reader.h"
#include "lookaside/trace/vector_reader.h"

namespace lookaside {
namespace {

struct Trace {
  std::vector<TraceEvent> events;  // calls are numbered through
  std::vector<MemoryCall> calls;
};

// Loops over code with data at strides and at random, threads and calls.
Trace RandomTrace(uint64_t seed, size_t events) {
  Rng rng(seed);
  Trace trace;
  uint32_t thread = 0;
  uint64_t fetch = 0x401000;
  uint64_t data = uint64_t{0x7f} << 36;
  while (trace.events.size() < events) {
    if (rng.Below(200) == 0) thread = static_cast<uint32_t>(rng.Below(3));
    if (rng.Below(300) == 0) {
      MemoryCall call;
      call.kind = static_cast<CallKind>(rng.Below(kCallKinds));
      call.thread = thread;
      call.process = static_cast<uint32_t>(rng.Below(2));
      call.error = rng.Below(4) == 0 ? 12 : 0;
      call.address = VirtAddr(rng.Next());
      call.length = rng.Next();
      call.new_address = VirtAddr(rng.Below(1 << 20));
      call.new_length = rng.Below(5000);
      call.offset = rng.Below(3);
      call.result = VirtAddr(rng.Next());
      call.prot = static_cast<uint32_t>(rng.Next());
      call.flags = static_cast<uint32_t>(rng.Next());
      call.advice = static_cast<int32_t>(rng.Next());
      call.fd = static_cast<int32_t>(rng.Below(5)) - 1;
      if (rng.Below(2) == 0) call.child = static_cast<uint32_t>(rng.Below(9));
      trace.events.push_back(
          {VirtAddr(trace.calls.size()), 0, EventKind::kCall, 0, thread});
      trace.calls.push_back(call);
      continue;
    }
    TraceEvent event;
    event.thread = thread;
    event.size = static_cast<uint16_t>(1 + rng.Below(15));
    if (rng.Below(3) != 0) {
      event.address = VirtAddr(fetch);
      fetch += event.size;
      if (rng.Below(6) == 0) fetch = 0x401000 + 64 * rng.Below(9);
      if (rng.Below(900) == 0) fetch = rng.Below(uint64_t{1} << 47);
    } else {
      event.kind = static_cast<EventKind>(1 + rng.Below(3));
      data += rng.Below(2) * 8;
      event.address = VirtAddr(rng.Below(9) == 0 ? rng.Below(data) : data);
      if (rng.Below(999) == 0) event.size = 65535;
    }
    trace.events.push_back(event);
  }
  return trace;
}

bool IsOf(const WholeTrace& read, const Trace& trace) {
  return read.error.empty() && read.events == trace.events &&
         read.calls == trace.calls;
}

class LktTest : public testing::Test {
 protected:
  LktTest() : path_(testing::TempDir() + "/test.lkt") {}
  ~LktTest() override { std::filesystem::remove(path_); }

  TraceInfo Write(const Trace& trace, int level = 1) {
    VectorReader reader("mine", trace.events, trace.calls);
    auto writer =
        *LktWriter::Create(path_, {"mine", "memory", "test 1", "a b"}, level);
    std::vector<TraceEvent> buffer(777);
    while (const size_t n = reader.Read(buffer)) {
      EXPECT_TRUE(writer->Write({buffer.data(), n}, reader.calls()).ok());
    }
    TraceInfo info = reader.info();
    info.warnings = {"one", "two"};
    info.skipped = {{"some lines", 5}};
    EXPECT_TRUE(writer->Finish(info).ok());
    return info;
  }
  std::string Bytes() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
};

TEST_F(LktTest, WhatIsWrittenIsReadAgain) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const Trace trace = RandomTrace(seed, 20'000 * seed);
    const TraceInfo written = Write(trace);
    for (const size_t buffer : {1u, 7u, 64u, 4096u}) {
      const WholeTrace whole = ReadAll(OpenTrace(path_), buffer);
      EXPECT_TRUE(IsOf(whole, trace)) << seed << " " << buffer << whole.error;
      const TraceInfo& read = whole.info;
      EXPECT_EQ(read.name, path_);
      EXPECT_EQ(read.format, "lkt");
      EXPECT_EQ(read.bytes, Bytes().size());
      EXPECT_EQ(read.events, written.events);
      EXPECT_EQ(read.accesses, written.accesses);
      EXPECT_EQ(read.calls, written.calls);
      EXPECT_EQ(read.failed_calls, written.failed_calls);
      EXPECT_EQ(read.threads, written.threads);
      EXPECT_EQ(read.processes, written.processes);
      EXPECT_EQ(read.warnings, written.warnings);
      ASSERT_EQ(read.skipped.size(), 1u);
      EXPECT_EQ(read.skipped[0].kind, "some lines");
    }
  }
}

// The example of docs/trace_format.md.
TEST_F(LktTest, TheBytesOfABlockAreAsDocumented) {
  LktEventEncoder encoder;
  for (uint64_t i = 0; i < 3; ++i) {
    encoder.Add({VirtAddr(0x401000), 4, EventKind::kFetch}, {});
    encoder.Add({VirtAddr(0x7000 + 64 * i), 8, EventKind::kLoad}, {});
    encoder.Add({VirtAddr(0x401004), 2, EventKind::kFetch}, {});
  }
  const unsigned char expected[] = {0x01, 0x08, 0x03, 0x10, 0x21, 0x08, 0x80,
                                    0xc0, 0x80, 0x04, 0x06, 0x00, 0x00, 0x00,
                                    0x00, 0x00, 0x00, 0x07, 0x80, 0xc0, 0x03,
                                    0x80, 0x01, 0x80, 0x01, 0x00, 0x00};
  EXPECT_EQ(encoder.Take(),
            std::string(std::begin(expected), std::end(expected)));
}

TEST_F(LktTest, ATraceOfSeveralBlocksIsReadAgain) {
  Trace trace = RandomTrace(3, 1000);
  while (trace.events.size() < 2 * kLktMostEvents + 5) {
    TraceEvent event = trace.events[trace.events.size() % 999];
    if (event.kind == EventKind::kCall) event = {VirtAddr(16), 4};
    trace.events.push_back(event);
  }
  Write(trace);
  EXPECT_TRUE(IsOf(ReadAll(OpenTrace(path_), 65536), trace));
}

// More shapes than a number of one has room for.
TEST_F(LktTest, ABlockEndsBeforeItsShapesRunOut) {
  Trace trace;
  Rng rng(1);
  for (int i = 0; i < 150'000; ++i) {
    trace.events.push_back({VirtAddr(rng.Below(uint64_t{1} << 46)), 4});
  }
  Write(trace);
  EXPECT_TRUE(IsOf(ReadAll(OpenTrace(path_), 65536), trace));
}

TEST_F(LktTest, AnUnfinishedFileIsNotThere) {
  {
    auto writer = *LktWriter::Create(path_, {});
    const TraceEvent event{VirtAddr(16), 4};
    ASSERT_TRUE(writer->Write({&event, 1}, {}).ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(std::filesystem::is_empty(testing::TempDir()) ||
              !std::filesystem::exists(path_ + "." + std::to_string(getpid()) +
                                       ".part"));
}

TEST_F(LktTest, EveryTruncationIsAnErrorThatSaysWhere) {
  Write(RandomTrace(1, 300));
  const std::string bytes = Bytes();
  for (size_t size = kLktMagic.size(); size < bytes.size(); ++size) {
    const std::string error =
        ReadAll(
            OpenTraceFromMemory("cut", std::string_view(bytes).substr(0, size)))
            .error;
    EXPECT_NE(error.find("cut off at byte " + std::to_string(size)),
              std::string::npos)
        << error;
  }
}

TEST_F(LktTest, EveryFlippedBitIsAnError) {
  Write(RandomTrace(2, 200));
  const std::string bytes = Bytes();
  for (size_t i = kLktMagic.size(); i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    const std::string error = ReadAll(OpenTraceFromMemory("bad", bad)).error;
    ASSERT_NE(error, "") << "byte " << i;
  }
}

TEST_F(LktTest, WhatIsKnownAtTheBeginningIsToldThen) {
  LktOrigin origin;
  origin.format = "generator";
  origin.setup_accesses = 300;
  origin.has_fetches = true;
  auto writer = *LktWriter::Create(path_, origin);
  ASSERT_TRUE(writer->Finish({}).ok());
  const TraceInfo info = (*OpenTrace(path_))->info();
  EXPECT_EQ(info.setup_accesses, 300u);
  EXPECT_TRUE(info.has_fetches);
  EXPECT_EQ(RecordedAs(info), "generator");
}

TEST_F(LktTest, AnotherFormatIsNoNativeTrace) {
  TraceOptions options;
  options.format = TraceFormat::kLkt;
  EXPECT_EQ(Message(OpenTraceFromMemory(
                        "text", "I  00401000,4\nI  00401004,4\n", options)
                        .status()),
            "text: is no native trace (.lkt): it begins with 'I  00401'");
}

TEST_F(LktTest, AnotherVersionIsToldAsSuch) {
  Write(RandomTrace(2, 20));
  std::string bytes = Bytes();
  bytes[kLktMagic.size()] = 2;
  const auto reader = OpenTraceFromMemory("new.lkt", bytes);
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(Message(reader.status()),
            "new.lkt: is a native trace of version 2; this program reads "
            "version 1");
}

TEST_F(LktTest, BytesAfterTheEndAreAnError) {
  Write(RandomTrace(2, 20));
  const std::string bytes = Bytes();
  const std::string longer = bytes + "x";
  auto reader = *OpenTraceFromMemory("long.lkt", longer);
  std::vector<TraceEvent> buffer(100);
  while (reader->Read(buffer) > 0) {
  }
  EXPECT_EQ(Message(reader->status()),
            "long.lkt: byte " + std::to_string(bytes.size()) +
                ": something follows the end of the trace");
}

// A file of a few bytes that claims gigabytes takes no memory.
TEST_F(LktTest, ABlockBeyondWhatAWriterMakesIsRefused) {
  LktHeader header;
  std::string bytes = EncodeHeader(header);
  std::string block = EncodeBlock(LktBlockKind::kEvents, "", 0, 1);
  block[11] = 0x7f;  // of the raw size
  bytes += block;
  auto reader = *OpenTraceFromMemory("bomb.lkt", bytes);
  TraceEvent event;
  EXPECT_EQ(reader->Read({&event, 1}), 0u);
  EXPECT_NE(Message(reader->status()).find("more than any writer makes"),
            std::string::npos)
      << reader->status();
}

// With a sum that is right, so that the columns themselves are looked at.
TEST_F(LktTest, ColumnsThatMakeNoSenseAreAnError) {
  const Trace trace = RandomTrace(4, 400);
  LktEventEncoder encoder;
  for (const TraceEvent& event : trace.events) encoder.Add(event, trace.calls);
  const uint32_t events = encoder.events();
  const std::string raw = encoder.Take();
  const auto decodes = [&](std::string columns, uint32_t count) {
    LktEventDecoder decoder;
    std::vector<MemoryCall> calls;
    std::vector<TraceEvent> buffer(4096);
    if (!decoder.Begin(std::move(columns), count)) return false;
    while (decoder.Read(buffer, calls) > 0) {
    }
    return decoder.ok();
  };
  EXPECT_TRUE(decodes(raw, events));
  EXPECT_FALSE(decodes(raw, events - 1));
  EXPECT_FALSE(decodes(raw, events + 1));
  for (size_t size = 0; size < raw.size(); ++size) {
    EXPECT_FALSE(decodes(raw.substr(0, size), events)) << size;
  }
  EXPECT_FALSE(decodes(raw + '\0', events));
}

TEST_F(LktTest, AFooterThatTellsOfOtherBlocksIsAnError) {
  LktFooter footer;
  footer.info.events = 7;
  std::string bytes = EncodeHeader({});
  const uint64_t place = bytes.size();
  bytes += EncodeBlock(LktBlockKind::kFooter, EncodeFooter(footer), 0, 1);
  bytes += EncodeTrailer(place);
  auto reader = *OpenTraceFromMemory("odd.lkt", bytes);
  TraceEvent event;
  EXPECT_EQ(reader->Read({&event, 1}), 0u);
  EXPECT_NE(Message(reader->status()).find("the footer tells of 7 events"),
            std::string::npos)
      << reader->status();
}

}  // namespace
}  // namespace lookaside
