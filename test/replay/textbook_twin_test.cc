// SPDX-License-Identifier: Apache-2.0
//
// Under the textbook preset the replay agrees, count for count, with a twin
// that shares nothing with it but the trace: on the bundled recording of a
// real program, and on random programs.
#include "lookaside/test/replay/textbook_twin.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/testdata/demo_recording.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/vector_reader.h"

namespace lookaside {
namespace {

void ExpectArray(const TlbCounters& got, const TextbookTwin::Array& want) {
  EXPECT_EQ(got.hits, want.hits);
  EXPECT_EQ(got.misses, want.misses);
  EXPECT_EQ(got.fills, want.fills);
  EXPECT_EQ(got.evictions, want.evictions);
  EXPECT_EQ(got.invalidated, 0u);
}

std::vector<TraceEvent> ReadAll(TraceReader& reader) {
  std::vector<TraceEvent> all;
  std::vector<TraceEvent> buffer(kBufferEvents);
  while (const size_t n = reader.Read(buffer)) {
    all.insert(all.end(), buffer.begin(),
               buffer.begin() + static_cast<ptrdiff_t>(n));
  }
  EXPECT_TRUE(reader.status().ok());
  return all;
}

void Compare(std::vector<TraceEvent> events) {
  // The twin knows no calls.
  std::erase_if(events, [](const TraceEvent& event) {
    return event.kind == EventKind::kCall;
  });
  const SimConfig config = *LoadPreset("textbook");
  ASSERT_EQ(config.tlb.arrays.size(), 3u);
  VectorReader reader("events", events);
  const std::unique_ptr<Simulation> simulation = *Simulation::Create(config);
  const RunResult result = *Replay(*simulation, reader, {});
  TextbookTwin twin;
  for (const TraceEvent& event : events) twin.Play(event);

  const CpuCounters& got = result.totals.counters;
  EXPECT_EQ(got.instructions, twin.instructions);
  EXPECT_EQ(got.ifetches, twin.instructions);
  EXPECT_EQ(got.loads, twin.loads);
  EXPECT_EQ(got.stores, twin.stores);
  for (size_t i = 0; i < 3; ++i) {
    const std::string& name = config.tlb.arrays[i].name;
    SCOPED_TRACE(name);
    ExpectArray(got.tlb[i], name == "itlb_4k"   ? twin.itlb
                            : name == "dtlb_4k" ? twin.dtlb
                                                : twin.stlb);
  }
  EXPECT_EQ(got.translation.l1_hits, twin.itlb.hits + twin.dtlb.hits);
  EXPECT_EQ(got.translation.stlb_hits, twin.stlb.hits);
  EXPECT_EQ(got.translation.walks, twin.walks);
  EXPECT_EQ(got.translation.walk_loads, 4 * twin.walks);
  EXPECT_EQ(got.translation.dirty_assists, twin.dirty_assists);
  EXPECT_EQ(result.totals.faults.minor, twin.faults);
}

TEST(TextbookTwin, AgreesOnTheBundledRecording) {
  const EmbeddedFile& file = DemoRecording().front();
  auto reader = *OpenTraceFromMemory("demo", file.contents);
  const std::vector<TraceEvent> events = ReadAll(*reader);
  ASSERT_GT(events.size(), 3'000'000u);
  Compare(events);
}

TEST(TextbookTwin, AgreesOnRandomPrograms) {
  Rng rng(7);
  for (const uint64_t pages : {20u, 40u, 900u, 3000u}) {
    SCOPED_TRACE(pages);
    std::vector<TraceEvent> events(200'000);
    for (TraceEvent& event : events) {
      event.kind = static_cast<EventKind>(rng.Below(4));
      event.address = VirtAddr(0x400000 + rng.Below(pages * kPageBytes));
      event.size = static_cast<uint16_t>(1 + rng.Below(64));
    }
    Compare(events);
  }
}

}  // namespace
}  // namespace lookaside
