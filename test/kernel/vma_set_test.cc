// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/vma_set.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "lookaside/base/rng.h"

namespace lookaside {
namespace {

constexpr Protection kReadWrite{true, true, false};
constexpr Protection kReadOnly{true, false, false};

Vma Private(uint64_t start, uint64_t end, Protection protection = kReadWrite) {
  return {VirtPage(start), VirtPage(end), {.protection = protection}, 0};
}
Vma Shared(uint64_t start, uint64_t end, uint32_t object, uint64_t offset) {
  Vma vma = Private(start, end);
  vma.attributes.object = SharedObjectId(object);
  vma.offset = offset;
  return vma;
}
void MakeReadOnly(VmaAttributes& attributes) {
  attributes.protection = kReadOnly;
}

// "10-20rw 30-40r"
std::string Show(const std::vector<Vma>& vmas) {
  std::string text;
  for (const Vma& vma : vmas) {
    if (!text.empty()) text += " ";
    text += std::to_string(vma.start.value()) + "-" +
            std::to_string(vma.end.value()) +
            (vma.attributes.protection.write ? "rw" : "r");
  }
  return text;
}

TEST(VmaSetTest, AlikeNeighboursBecomeOne) {
  VmaSet vmas;
  vmas.Map(Private(10, 20));
  vmas.Map(Private(30, 40));
  EXPECT_EQ(Show(vmas.All()), "10-20rw 30-40rw");
  vmas.Map(Private(20, 30));
  EXPECT_EQ(Show(vmas.All()), "10-40rw");
  EXPECT_EQ(vmas.total_vm(), 30u);
}

TEST(VmaSetTest, SharedNeighboursMergeOnlyIfTheObjectGoesOn) {
  VmaSet vmas;
  vmas.Map(Shared(10, 20, 1, 100));
  vmas.Map(Shared(20, 30, 1, 110));
  EXPECT_EQ(vmas.size(), 1u);
  vmas.Map(Shared(30, 40, 1, 121));
  EXPECT_EQ(vmas.size(), 2u);
  vmas.Map(Shared(40, 50, 2, 131));
  EXPECT_EQ(vmas.size(), 3u);
}

TEST(VmaSetTest, UnmappingSplits) {
  VmaSet vmas;
  vmas.Map(Shared(10, 40, 1, 0));
  EXPECT_EQ(Show(vmas.Unmap(VirtPage(20), VirtPage(30))), "20-30rw");
  EXPECT_EQ(Show(vmas.All()), "10-20rw 30-40rw");
  EXPECT_EQ(vmas.Find(VirtPage(30))->offset, 20u);
  EXPECT_EQ(vmas.Find(VirtPage(20)), nullptr);
  EXPECT_EQ(vmas.total_vm(), 20u);
}

TEST(VmaSetTest, UnmappingSpansMappingsAndHoles) {
  VmaSet vmas;
  vmas.Map(Private(10, 20));
  vmas.Map(Private(30, 40, kReadOnly));
  EXPECT_EQ(Show(vmas.Unmap(VirtPage(15), VirtPage(35))), "15-20rw 30-35r");
  EXPECT_EQ(Show(vmas.All()), "10-15rw 35-40r");
}

TEST(VmaSetTest, ChangingSplitsAndMerges) {
  VmaSet vmas;
  vmas.Map(Private(10, 40));
  EXPECT_EQ(Show(vmas.Change(VirtPage(20), VirtPage(30), MakeReadOnly)),
            "20-30rw");
  EXPECT_EQ(Show(vmas.All()), "10-20rw 20-30r 30-40rw");
  vmas.Change(VirtPage(30), VirtPage(40), MakeReadOnly);
  EXPECT_EQ(Show(vmas.All()), "10-20rw 20-40r");
  vmas.Change(VirtPage(10), VirtPage(20), MakeReadOnly);
  EXPECT_EQ(Show(vmas.All()), "10-40r");
}

TEST(VmaSetTest, CoversSeesHoles) {
  VmaSet vmas;
  vmas.Map(Private(10, 20));
  vmas.Map(Private(20, 30, kReadOnly));
  EXPECT_TRUE(vmas.Covers(VirtPage(10), VirtPage(30)));
  EXPECT_FALSE(vmas.Covers(VirtPage(9), VirtPage(30)));
  EXPECT_FALSE(vmas.Covers(VirtPage(10), VirtPage(31)));
  EXPECT_TRUE(vmas.Overlaps(VirtPage(29), VirtPage(40)));
  EXPECT_FALSE(vmas.Overlaps(VirtPage(30), VirtPage(40)));
}

TEST(VmaSetTest, GapsAreFoundFromTheTop) {
  VmaSet vmas;
  vmas.Map(Private(90, 95));
  const auto gap = [&](uint64_t pages, uint64_t align) {
    const auto found = vmas.FindGapBelow(VirtPage(100), pages, align);
    return found ? found->value() : 0;
  };
  EXPECT_EQ(gap(5, 1), 95u);
  EXPECT_EQ(gap(6, 1), 84u);
  EXPECT_EQ(gap(6, 16), 80u);
  EXPECT_EQ(gap(89, 1), 1u);
  EXPECT_EQ(gap(90, 1), 0u);  // page 0 is never given
}

// A twin that knows each page by itself.
class Twin {
 public:
  void Map(const Vma& vma) {
    for (uint64_t page = vma.start.value(); page < vma.end.value(); ++page) {
      pages_[page] = vma.Clip(VirtPage(page), VirtPage(page + 1));
    }
  }
  void Unmap(uint64_t first, uint64_t end) {
    pages_.erase(pages_.lower_bound(first), pages_.lower_bound(end));
  }
  void Change(uint64_t first, uint64_t end, Protection protection) {
    for (auto it = pages_.lower_bound(first);
         it != pages_.end() && it->first < end; ++it) {
      it->second.attributes.protection = protection;
    }
  }
  const std::map<uint64_t, Vma>& pages() const { return pages_; }

 private:
  std::map<uint64_t, Vma> pages_;
};

void ExpectEqual(const VmaSet& vmas, const Twin& twin, uint64_t pages) {
  for (uint64_t page = 0; page < pages; ++page) {
    const Vma* const vma = vmas.Find(VirtPage(page));
    const auto it = twin.pages().find(page);
    ASSERT_EQ(vma != nullptr, it != twin.pages().end()) << page;
    if (vma == nullptr) continue;
    ASSERT_EQ(vma->Clip(VirtPage(page), VirtPage(page + 1)), it->second)
        << page;
  }
}

TEST(VmaSetTest, AgreesWithATwinThatKnowsEachPage) {
  constexpr uint64_t kPages = 64;
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    VmaSet vmas;
    Twin twin;
    for (int i = 0; i < 60; ++i) {
      const uint64_t first = rng.Below(kPages);
      const uint64_t end = first + 1 + rng.Below(kPages - first);
      const bool write = rng.Below(2) == 0;
      switch (rng.Below(3)) {
        case 0: {
          const auto object = static_cast<uint32_t>(rng.Below(3));
          const Vma vma = object == 0 ? Private(first, end)
                                      : Shared(first, end, object, first);
          vmas.Unmap(VirtPage(first), VirtPage(end));
          vmas.Map(vma);
          twin.Unmap(first, end);
          twin.Map(vma);
          break;
        }
        case 1:
          vmas.Unmap(VirtPage(first), VirtPage(end));
          twin.Unmap(first, end);
          break;
        default:
          vmas.Change(VirtPage(first), VirtPage(end), [&](VmaAttributes& a) {
            a.protection = {true, write, false};
          });
          twin.Change(first, end, {true, write, false});
      }
      vmas.CheckInvariants();
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(vmas, twin, kPages));
      ASSERT_EQ(vmas.total_vm(), twin.pages().size());
    }
  }
}

}  // namespace
}  // namespace lookaside
