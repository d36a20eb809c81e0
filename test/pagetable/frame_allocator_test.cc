// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/frame_allocator.h"

#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <map>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kFramesPerGiB = kGiB / kPageBytes;

FrameAllocator Make(uint32_t nodes, uint64_t gib, uint32_t per_socket = 1) {
  return FrameAllocator::Create(nodes, gib * kGiB, per_socket).value();
}

Fingerprint FingerprintOf(const FrameAllocator& frames) {
  Digest digest;
  frames.AddTo(digest);
  return digest.Finish();
}

TEST(FrameAllocator, TakesTheLowestBlockOfTheNode) {
  FrameAllocator frames = Make(2, 4);
  const FrameNumber second(4 * kFramesPerGiB);
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, NodeId(1)), second);
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, NodeId(1)),
            FrameNumber(second.value() + 1));
  EXPECT_EQ(*frames.Allocate(PageSize::k2M, NodeId(1)),
            FrameNumber(second.value() + 512));
  EXPECT_EQ(*frames.Allocate(PageSize::k1G, NodeId(1)),
            FrameNumber(second.value() + kFramesPerGiB));
  EXPECT_EQ(frames.NodeOf(second), NodeId(1));
  EXPECT_EQ(frames.NodeOf(FrameNumber(second.value() - 1)), NodeId(0));
  EXPECT_EQ(frames.used_frames(NodeId(1)), 2 + 512 + kFramesPerGiB);
  EXPECT_EQ(frames.used_frames(NodeId(0)), 0u);
}

TEST(FrameAllocator, TablesAndDataComeFromDifferentBlocks) {
  FrameAllocator frames = Make(1, 1);
  const NodeId node(0);
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, node), FrameNumber(0));
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, node, Mobility::kUnmovable),
            FrameNumber(512));
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, node), FrameNumber(1));
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, node, Mobility::kUnmovable),
            FrameNumber(513));
}

TEST(FrameAllocator, TablesTakeTheOthersFramesWhenNoBlockIsFree) {
  FrameAllocator frames = Make(1, 1);
  const NodeId node(0);
  for (int i = 0; i < 511; ++i) {
    ASSERT_TRUE(frames.Allocate(PageSize::k2M, node).ok());
  }
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, node), FrameNumber(511 * 512));
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, node, Mobility::kUnmovable),
            FrameNumber(511 * 512 + 1));
}

TEST(FrameAllocator, FallsBackToTheNearestNodeSameSocketFirst) {
  FrameAllocator frames = Make(6, 1, 2);
  std::vector<uint32_t> order;
  for (int i = 0; i < 6; ++i) {
    const FrameNumber frame = *frames.Allocate(PageSize::k1G, NodeId(2));
    order.push_back(frames.NodeOf(frame).value());
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{2, 3, 1, 0, 4, 5}));
  EXPECT_TRUE(frames.SameSocket(NodeId(2), NodeId(3)));
  EXPECT_FALSE(frames.SameSocket(NodeId(1), NodeId(2)));
}

TEST(FrameAllocator, AFrameIsOnTheSocketOfEachOfItsNodes) {
  FrameAllocator frames = Make(6, 1, 2);
  for (uint32_t home = 0; home < frames.nodes(); ++home) {
    const FrameNumber frame =
        frames.Allocate(PageSize::k4K, NodeId(home)).value();
    for (uint32_t node = 0; node < frames.nodes(); ++node) {
      EXPECT_EQ(frames.OnSocketOf(frame, NodeId(node)),
                frames.SameSocket(frames.NodeOf(frame), NodeId(node)));
    }
  }
}

TEST(FrameAllocator, AFullMachineIsAnErrorAndNothingIsRecycled) {
  FrameAllocator frames = Make(2, 1);
  const FrameNumber first = *frames.Allocate(PageSize::k1G, NodeId(0));
  ASSERT_TRUE(frames.Allocate(PageSize::k1G, NodeId(0)).ok());
  for (const PageSize size : kAllPageSizes) {
    const auto frame = frames.Allocate(size, NodeId(1));
    EXPECT_EQ(frame.status().code(), absl::StatusCode::kResourceExhausted);
  }
  frames.Free(first, PageSize::k1G);
  EXPECT_EQ(*frames.Allocate(PageSize::k4K, NodeId(1)), first);
}

TEST(FrameAllocator, LargeBlocksAreMadeOfFreedSmallOnes) {
  FrameAllocator frames = Make(1, 1);
  std::vector<FrameNumber> taken;
  for (int i = 0; i < 1024; ++i) {
    taken.push_back(*frames.Allocate(PageSize::k4K, NodeId(0)));
  }
  EXPECT_FALSE(frames.Allocate(PageSize::k1G, NodeId(0)).ok());
  for (const FrameNumber frame : taken) frames.Free(frame, PageSize::k4K);
  EXPECT_EQ(*frames.Allocate(PageSize::k1G, NodeId(0)), FrameNumber(0));
}

TEST(FrameAllocator, ErrorsNameKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(Message(FrameAllocator::Create(1, kGiB + 1).status()),
            "paging.node_memory = 1073741825: must be a positive multiple of "
            "1 GiB");
  EXPECT_EQ(Message(FrameAllocator::Create(4, uint64_t{1} << 51).status()),
            "paging.node_memory = 2251799813685248: 4 nodes of it must fit "
            "the 52 bits of a physical address, so at most 1048576 GiB each");
}

TEST(FrameAllocatorDeathTest, FreeingTwiceIsABug) {
  FrameAllocator frames = Make(1, 1);
  const FrameNumber frame = *frames.Allocate(PageSize::k4K, NodeId(0));
  ASSERT_TRUE(frames.Allocate(PageSize::k4K, NodeId(0)).ok());
  EXPECT_DEATH(frames.Free(frame, PageSize::k2M), "");
  frames.Free(frame, PageSize::k4K);
  EXPECT_DEATH(frames.Free(frame, PageSize::k4K), "");
}

// Random allocation and freeing beside a plain list of what is in use.
class Churn {
 public:
  explicit Churn(uint64_t seed) : frames_(Make(3, 2)), rng_(seed) {}

  void Step() {
    const auto size = static_cast<PageSize>(rng_.Below(50) == 0  ? 2
                                            : rng_.Below(8) == 0 ? 1
                                                                 : 0);
    if (rng_.Below(5) < 3) {
      Take(size);
    } else if (!used_.empty()) {
      auto it = used_.lower_bound(rng_.Below(6 * kFramesPerGiB));
      if (it == used_.end()) it = used_.begin();
      Release(it->first);
    }
  }
  void ReleaseAll() {
    while (!used_.empty()) Release(used_.begin()->first);
  }
  const FrameAllocator& frames() const { return frames_; }

 private:
  void Take(PageSize size) {
    const auto mobility = static_cast<Mobility>(rng_.Below(2));
    const NodeId node(static_cast<uint32_t>(rng_.Below(3)));
    const auto frame = frames_.Allocate(size, node, mobility);
    if (!frame.ok()) return;
    const uint64_t first = frame->value();
    ASSERT_EQ(first % PagesIn(size), 0u);
    ASSERT_LT(first, 6 * kFramesPerGiB);
    const auto next = used_.upper_bound(first);
    ASSERT_TRUE(next == used_.end() || next->first >= first + PagesIn(size));
    if (next != used_.begin()) {
      const auto& [before, before_size] = *std::prev(next);
      ASSERT_LE(before + PagesIn(before_size), first);
    }
    used_.emplace(first, size);
    CheckInvariants();
  }
  void Release(uint64_t first) {
    const auto it = used_.find(first);
    frames_.Free(FrameNumber(first), it->second);
    used_.erase(it);
    CheckInvariants();
  }
  void CheckInvariants() {
    std::array<uint64_t, 3> used{};
    for (const auto& [first, size] : used_) {
      used[first / (2 * kFramesPerGiB)] += PagesIn(size);
    }
    for (uint32_t node = 0; node < 3; ++node) {
      ASSERT_EQ(frames_.used_frames(NodeId(node)), used[node]);
    }
  }

  FrameAllocator frames_;
  Rng rng_;
  std::map<uint64_t, PageSize> used_;
};

TEST(FrameAllocator, BlocksNeverOverlapAndFreeingRestoresTheState) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    Churn churn(seed);
    for (int i = 0; i < 1500; ++i) ASSERT_NO_FATAL_FAILURE(churn.Step());
    churn.ReleaseAll();
    EXPECT_TRUE(churn.frames() == Make(3, 2));
    EXPECT_EQ(FingerprintOf(churn.frames()), FingerprintOf(Make(3, 2)));
  }
}

TEST(FrameAllocator, ACopyDrivenOnEqualsItsOriginal) {
  Churn original(9);
  for (int i = 0; i < 300; ++i) original.Step();
  Churn copy = original;
  const Fingerprint before = FingerprintOf(copy.frames());
  for (int i = 0; i < 300; ++i) original.Step();
  EXPECT_EQ(FingerprintOf(copy.frames()), before);
  EXPECT_NE(FingerprintOf(original.frames()), before);
  for (int i = 0; i < 300; ++i) copy.Step();
  EXPECT_TRUE(copy.frames() == original.frames());
  EXPECT_EQ(FingerprintOf(copy.frames()), FingerprintOf(original.frames()));
}

}  // namespace
}  // namespace lookaside
