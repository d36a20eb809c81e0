// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/frame_table.h"

#include <gtest/gtest.h>

#include "lookaside/base/digest.h"

namespace lookaside {
namespace {

constexpr FrameNumber kFrame(77);
constexpr FrameNumber kLarge(1024);

FrameMapping At(uint32_t mm, uint64_t page) {
  return {MmId(mm), VirtPage(page)};
}

TEST(FrameTableTest, TheLastReferenceFreesTheFrame) {
  FrameTable frames;
  frames.Add(kFrame, PageSize::k4K);
  frames.AddMapping(kFrame, At(0, 5));
  EXPECT_FALSE(frames.Put(kFrame));  // the allocator's; the mapping holds it
  frames.RemoveMapping(kFrame, At(0, 5));
  EXPECT_TRUE(frames.InUse(kFrame));  // until the gather lets go
  EXPECT_TRUE(frames.Put(kFrame));
  EXPECT_FALSE(frames.InUse(kFrame));
}

TEST(FrameTableTest, TheReverseMapFindsEveryMapping) {
  FrameTable frames;
  frames.Add(kFrame, PageSize::k4K);
  frames.AddMapping(kFrame, At(1, 9));
  frames.AddMapping(kFrame, At(0, 9));
  EXPECT_EQ(frames.UseOf(kFrame).mappings,
            (FrameTable::Mappings{At(0, 9), At(1, 9)}));
  EXPECT_EQ(frames.UseOf(kFrame).references, 3u);
}

TEST(FrameTableTest, PartsOfALargePageAreThePage) {
  FrameTable frames;
  frames.Add(kLarge, PageSize::k2M);
  EXPECT_EQ(frames.HeadOf(FrameNumber(1024 + 511)), kLarge);
  EXPECT_FALSE(frames.InUse(FrameNumber(1024 + 512)));
  frames.AddMapping(FrameNumber(1030), At(0, 6));
  frames.AddMapping(FrameNumber(1031), At(0, 7));
  EXPECT_EQ(frames.UseOf(kLarge).references, 3u);
  EXPECT_FALSE(frames.Put(kLarge));
  frames.RemoveMapping(FrameNumber(1030), At(0, 6));
  EXPECT_FALSE(frames.Put(FrameNumber(1030)));
  frames.RemoveMapping(FrameNumber(1031), At(0, 7));
  EXPECT_TRUE(frames.Put(FrameNumber(1031)));
}

TEST(FrameTableTest, TheOrderOfArrivalIsNoState) {
  FrameTable a, b;
  for (const uint64_t frame : {1u, 2u})
    a.Add(FrameNumber(frame), PageSize::k4K);
  for (const uint64_t frame : {2u, 1u})
    b.Add(FrameNumber(frame), PageSize::k4K);
  a.AddMapping(FrameNumber(1), At(0, 1));
  a.AddMapping(FrameNumber(1), At(0, 2));
  b.AddMapping(FrameNumber(1), At(0, 2));
  b.AddMapping(FrameNumber(1), At(0, 1));
  EXPECT_EQ(a, b);
  Digest digest_a, digest_b;
  a.AddTo(digest_a);
  b.AddTo(digest_b);
  EXPECT_EQ(digest_a.Finish(), digest_b.Finish());
}

TEST(FrameTableDeathTest, AMappingsReferenceCannotBeDropped) {
  FrameTable frames;
  frames.Add(kFrame, PageSize::k4K);
  frames.AddMapping(kFrame, At(0, 5));
  frames.Put(kFrame);
  EXPECT_DEATH(frames.Put(kFrame), "mappings");
}

TEST(FrameTableDeathTest, AFrameIsOwnedOnce) {
  FrameTable frames;
  frames.Add(kFrame, PageSize::k4K);
  EXPECT_DEATH(frames.Add(kFrame, PageSize::k4K), "added");
}

}  // namespace
}  // namespace lookaside
