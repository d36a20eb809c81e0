// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/vector_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace lookaside {
namespace {

std::vector<TraceEvent> ThreeEvents() {
  return {{VirtAddr(0x401000), 4, EventKind::kFetch},
          {VirtAddr(0x1fff000708), 8, EventKind::kModify},
          {VirtAddr(0x5000), 1, EventKind::kStore}};
}

TEST(VectorReader, HandsOutItsEventsInPieces) {
  VectorReader reader("mine", ThreeEvents());
  std::vector<TraceEvent> got(2);
  EXPECT_EQ(reader.Read(got), 2u);
  EXPECT_EQ(got[1], ThreeEvents()[1]);
  EXPECT_EQ(reader.Read(got), 1u);
  EXPECT_EQ(got[0], ThreeEvents()[2]);
  EXPECT_EQ(reader.Read(got), 0u);
  EXPECT_TRUE(reader.status().ok());
}

TEST(VectorReader, InfoCountsWhatWasReadAndAModifyTwice) {
  VectorReader reader("mine", ThreeEvents());
  EXPECT_EQ(reader.info().events, 0u);
  std::vector<TraceEvent> buffer(8);
  while (reader.Read(buffer) > 0) continue;
  const TraceInfo info = reader.info();
  EXPECT_EQ(info.name, "mine");
  EXPECT_EQ(info.format, "memory");
  EXPECT_EQ(info.events, 3u);
  EXPECT_EQ(info.accesses, 4u);
  EXPECT_EQ(info.bytes, 48u);
  EXPECT_EQ(info.xxh3.size(), 32u);
}

TEST(VectorReader, RewindBeginsAgain) {
  VectorReader reader("mine", ThreeEvents());
  std::vector<TraceEvent> buffer(3);
  EXPECT_EQ(reader.Read(buffer), 3u);
  reader.Rewind();
  EXPECT_EQ(reader.Read(buffer), 3u);
  EXPECT_EQ(buffer, ThreeEvents());
}

TEST(VectorReader, CallsAreThoseOfTheLastRead) {
  const TraceEvent call = {VirtAddr(99), 0, EventKind::kCall};
  std::vector<TraceEvent> events = ThreeEvents();
  events.insert(events.begin() + 1, {call, call});
  VectorReader reader("mine", events,
                      {{.kind = CallKind::kBrk}, {.kind = CallKind::kMunmap}});
  std::vector<TraceEvent> got(2);
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_EQ(reader.Read(got), 2u);
    EXPECT_EQ(got[1].address, VirtAddr(0));
    ASSERT_EQ(reader.calls().size(), 1u);
    EXPECT_EQ(reader.calls()[0].kind, CallKind::kBrk);
    ASSERT_EQ(reader.Read(got), 2u);
    EXPECT_EQ(got[0].address, VirtAddr(0));
    EXPECT_EQ(reader.calls()[0].kind, CallKind::kMunmap);
    reader.Rewind();
  }
  while (reader.Read(got) > 0) continue;
  EXPECT_TRUE(reader.calls().empty());
  const TraceInfo info = reader.info();
  EXPECT_EQ(info.events, 3u);
  EXPECT_EQ(info.accesses, 4u);
  EXPECT_EQ(AllCalls(info), 2u);
  EXPECT_NE(info.xxh3,
            VectorReader("mine", events,
                         {{.kind = CallKind::kBrk}, {.kind = CallKind::kBrk}})
                .info()
                .xxh3);
}

TEST(VectorReader, EmptyIsAtItsEnd) {
  VectorReader reader("none", {});
  std::vector<TraceEvent> buffer(3);
  EXPECT_EQ(reader.Read(buffer), 0u);
  EXPECT_TRUE(reader.status().ok());
}

}  // namespace
}  // namespace lookaside
