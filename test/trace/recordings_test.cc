// SPDX-License-Identifier: Apache-2.0
// The recordings of testdata/ are what testdata/README.md says.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {
namespace {

struct Summary {
  std::array<uint64_t, 4> events{};
  // Of accesses and calls, by thread.
  std::array<uint64_t, 5> accesses{};
  std::array<uint64_t, 5> maps{};
  std::set<uint64_t> code_pages;
  std::set<uint64_t> data_pages;
};

Summary ReadAll(TraceReader& reader) {
  Summary summary;
  std::vector<TraceEvent> buffer(4096);
  uint64_t previous = 0;
  while (const size_t n = reader.Read(buffer)) {
    for (const TraceEvent& event : std::span(buffer).first(n)) {
      if (event.kind == EventKind::kCall) {
        const MemoryCall& call = reader.calls()[event.address.value()];
        if (call.kind == CallKind::kMmap) ++summary.maps.at(call.thread);
        continue;
      }
      ++summary.accesses.at(event.thread);
      ++summary.events[static_cast<size_t>(event.kind)];
      const uint64_t first = event.address.value() >> 12;
      const uint64_t last = (event.address.value() + event.size - 1) >> 12;
      if (event.kind == EventKind::kFetch && first == previous &&
          last == first) {
        continue;
      }
      auto& pages = event.kind == EventKind::kFetch ? summary.code_pages
                                                    : summary.data_pages;
      for (uint64_t page = first; page <= last; ++page) pages.insert(page);
      if (event.kind == EventKind::kFetch) previous = last;
    }
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  return summary;
}

TEST(Recordings, DemoRecordingIsAsDescribed) {
  ASSERT_EQ(DemoRecording().size(), 1u);
  const EmbeddedFile& file = DemoRecording().front();
  auto reader = OpenTraceFromMemory(std::string(file.name), file.contents);
  ASSERT_TRUE(reader.ok());
  const Summary summary = ReadAll(**reader);
  EXPECT_EQ(summary.events,
            (std::array<uint64_t, 4>{2577279, 595823, 322173, 32010}));
  EXPECT_EQ(summary.code_pages.size(), 177u);
  EXPECT_EQ(summary.data_pages.size(), 220u);
  const TraceInfo info = (*reader)->info();
  EXPECT_EQ(info.name, "zstd.lackey.xz");
  EXPECT_EQ(info.format, "lackey+xz");
  EXPECT_EQ(info.bytes, 852048u);
  EXPECT_EQ(info.accesses, 3559295u);
  ASSERT_EQ(info.skipped.size(), 4u);
  EXPECT_EQ(info.skipped[0].count, 7u);
  EXPECT_EQ(info.skipped[1].count, 201u);
  EXPECT_EQ(info.skipped[2].count, 247u);
  EXPECT_EQ(info.skipped[3].count, 4u);
  EXPECT_TRUE(info.warnings.empty());
  EXPECT_EQ(info.threads, 5u);
  EXPECT_EQ(info.processes, 1u);
  const auto calls = [&info](CallKind kind) {
    return info.calls[static_cast<size_t>(kind)];
  };
  EXPECT_EQ(calls(CallKind::kMmap), 55u);
  EXPECT_EQ(calls(CallKind::kMunmap), 28u);
  EXPECT_EQ(calls(CallKind::kMprotect), 14u);
  EXPECT_EQ(calls(CallKind::kMadvise), 4u);
  EXPECT_EQ(calls(CallKind::kBrk), 3u);
  EXPECT_EQ(calls(CallKind::kClone), 4u);
  EXPECT_EQ(calls(CallKind::kExit), 4u);
  EXPECT_EQ(calls(CallKind::kExitGroup), 1u);
  EXPECT_EQ(AllCalls(info), 113u);
  EXPECT_EQ(info.failed_calls, 0u);
  EXPECT_EQ(summary.maps, (std::array<uint64_t, 5>{50, 1, 1, 3, 0}));
  EXPECT_EQ(summary.accesses,
            (std::array<uint64_t, 5>{707934, 6045, 8317, 2804025, 964}));
}

TEST(Recordings, TinyRecordingIsAsDescribed) {
  auto reader = OpenTrace("testdata/tiny.lackey");
  ASSERT_TRUE(reader.ok()) << reader.status();
  const Summary summary = ReadAll(**reader);
  EXPECT_EQ(summary.events, (std::array<uint64_t, 4>{7, 68, 2, 1}));
  EXPECT_EQ(summary.code_pages.size(), 2u);
  EXPECT_EQ(summary.data_pages.size(), 38u);
  EXPECT_EQ((*reader)->info().accesses, 79u);
}

}  // namespace
}  // namespace lookaside
