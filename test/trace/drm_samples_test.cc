// SPDX-License-Identifier: Apache-2.0
//
// Traces that DynamoRIO's project publishes, with the counts that an
// independent reader found. They are not in this repository: they are looked
// for in shared/traces/drmemtrace beside it, or beside a directory that it is
// in.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

namespace fs = std::filesystem;

// Where this source is in the repository, and not in Bazel's view of it.
constexpr char kSource[] = "test/trace/drm_samples_test.cc";

std::optional<fs::path> FindSamples() {
  std::error_code error;
  const fs::path source = fs::canonical(kSource, error);
  for (fs::path at = source; at.has_relative_path(); at = at.parent_path()) {
    const fs::path samples = at.parent_path() / "shared/traces/drmemtrace";
    if (fs::is_directory(samples, error)) return samples;
  }
  return std::nullopt;
}

struct Sample {
  std::string name;
  std::array<uint64_t, 3> events;  // fetches, loads, stores
  std::optional<size_t> pages;     // 4 KiB, of loads and stores
  uint32_t threads;
  // Calls that were applied or left out.
  std::vector<std::pair<std::string, uint64_t>> skipped;
  uint64_t exits;
};

const Sample kSamples[] = {
    {"drmemtrace.threadsig.x64.tracedir",
     {650576, 172208, 100150},
     134,
     9,
     {{"argumentless munmap calls", 4}},
     8},
    {"drmemtrace.as_traced.x64.tracedir",
     {57812, 11178, 4064},
     46,
     1,
     {{"argumentless mmap calls", 8}},
     0},
    {"drmemtrace.simple_app.trace.zip", {136051, 31507, 12338}, {}, 1, {}, 0},
    {"drmemtrace.allasm_x86_64.trace.zip", {133, 0, 0}, {}, 1, {}, 0},
    {"drmemtrace.small.x64.trace", {173, 42, 14}, {}, 1, {}, 0},
    {"offline-legacy-trace.gz", {78753, 26381, 16308}, {}, 5, {}, 0},
    {"samples-threadsig.x86_64",
     {15885247, 15219806, 17411738},
     87,
     21,
     {{"argumentless mmap calls", 20},
      {"argumentless mprotect calls", 20},
      {"argumentless munmap calls", 16},
      {"argumentless clone calls", 20}},
     20},
};

class DrmSamples : public testing::TestWithParam<ThreadOrder> {};

void Check(const fs::path& samples, const Sample& sample, ThreadOrder order) {
  SCOPED_TRACE(sample.name);
  const std::string path = samples / sample.name;
  TraceOptions options;
  if (fs::is_directory(path)) options.order = order;
  auto reader = OpenTrace(path, options);
  ASSERT_TRUE(reader.ok()) << Message(reader.status());
  std::array<uint64_t, 3> counts{};
  std::unordered_set<uint64_t> pages;
  std::vector<TraceEvent> buffer(4096);
  while (const size_t n = (*reader)->Read(buffer)) {
    for (size_t i = 0; i < n; ++i) {
      const TraceEvent& event = buffer[i];
      if (event.kind == EventKind::kCall) continue;
      ++counts[static_cast<size_t>(event.kind)];
      if (event.kind == EventKind::kFetch) continue;
      pages.insert(event.address.value() / 4096);
      pages.insert((event.address.value() + event.size - 1) / 4096);
    }
  }
  ASSERT_EQ(Message((*reader)->status()), "");
  EXPECT_EQ(counts, sample.events);
  EXPECT_EQ(pages.size(), sample.pages.value_or(pages.size()));
  const TraceInfo info = (*reader)->info();
  EXPECT_EQ(info.threads, sample.threads);
  EXPECT_EQ(info.processes, 1u);
  EXPECT_EQ(info.calls[static_cast<size_t>(CallKind::kExit)], sample.exits);
  for (const auto& [kind, count] : sample.skipped) {
    uint64_t found = 0;
    for (const SkippedRecords& skipped : info.skipped) {
      if (skipped.kind == kind) found = skipped.count;
    }
    EXPECT_EQ(found, count) << kind;
  }
}

TEST_P(DrmSamples, CountsAreThoseOfAnIndependentReader) {
  const std::optional<fs::path> samples = FindSamples();
  if (!samples.has_value()) {
    GTEST_SKIP() << "no shared/traces/drmemtrace beside the repository: the "
                    "published sample traces are not checked";
  }
  for (const Sample& sample : kSamples) Check(*samples, sample, GetParam());
}

INSTANTIATE_TEST_SUITE_P(EveryOrder, DrmSamples,
                         testing::Values(ThreadOrder::kTimestamps,
                                         ThreadOrder::kSerialSchedule,
                                         ThreadOrder::kCpuSchedule));

}  // namespace
}  // namespace lookaside
