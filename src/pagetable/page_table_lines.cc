// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_table_lines.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/tlb/find_way.h"

namespace lookaside {

PageTableLineCache::PageTableLineCache(const LineCacheConfig& config,
                                       Permille data_pressure)
    : sets_(config.lines == 0 ? 1 : config.lines / config.ways),
      ways_(config.lines == 0
                ? 0
                : static_cast<uint32_t>(data_pressure.Without(config.ways))) {
  LOOKASIDE_CHECK(sets_ > 0 && (sets_ & (sets_ - 1)) == 0);
}

void PageTableLineCache::Allocate() {
  newest_.resize(sets_);
  older_.resize(size_t{sets_} * (ways_ - 1));
}

namespace {

// Puts `moved` before the kOlder lines at `older`, of which it takes out `key`
// or, if that is not there, the last; whether it was there. Without a branch:
// where a hit lies cannot be predicted (Walk_Random4K in
// bench/walk_benchmark.cc).
template <uint32_t kOlder>
bool Rotate(uint64_t* older, uint64_t moved, uint64_t key) {
  const uint32_t at = FindWayOf<kOlder>(older, key);
#pragma GCC unroll 16
  for (uint32_t i = kOlder - 1; i > 0; --i) {
    older[i] = i <= at ? older[i - 1] : older[i];
  }
  older[0] = moved;
  return at != kOlder;
}

// The same for any number of lines.
bool RotateAny(uint64_t* older, uint32_t count, uint64_t moved, uint64_t key) {
  const uint32_t at = FindWay(older, count, key);
  for (uint32_t i = std::min(at, count - 1); i > 0; --i) {
    older[i] = older[i - 1];
  }
  older[0] = moved;
  return at != count;
}

}  // namespace

bool PageTableLineCache::LoadSlowly(size_t set, uint64_t key) {
  const uint64_t moved = std::exchange(newest_[set], key);
  const uint32_t count = ways_ - 1;
  uint64_t* const older = older_.data() + set * count;
  if (count == 7) return Rotate<7>(older, moved, key);
  if (count == 15) return Rotate<15>(older, moved, key);
  // An empty place ends the set: nothing lies behind it.
  if (count == 0 || moved == 0) return false;
  return RotateAny(older, count, moved, key);
}

bool PageTableLineCache::Contains(PhysAddr address) const {
  if (newest_.empty()) return false;
  const uint64_t line = address.value() >> kLineShift;
  const size_t set = SetOf(line);
  const uint64_t* const older = older_.data() + set * (ways_ - 1);
  return newest_[set] == line + 1 ||
         std::find(older, older + ways_ - 1, line + 1) != older + ways_ - 1;
}

void PageTableLineCache::Clear() {
  newest_.clear();
  older_.clear();
}

void PageTableLineCache::AddTo(Digest& digest) const {
  digest.Add(sets_);
  digest.Add(ways_);
  for (size_t set = 0; set < newest_.size(); ++set) {
    if (newest_[set] == 0) continue;
    digest.Add(set);
    digest.Add(newest_[set]);
    for (size_t i = 0; i + 1 < ways_; ++i) {
      digest.Add(older_[set * (ways_ - 1) + i]);
    }
  }
  digest.Add(~uint64_t{0});  // no set is this: ends the list
}

bool operator==(const PageTableLineCache& a, const PageTableLineCache& b) {
  const auto unused = [](const PageTableLineCache& c) {
    return std::all_of(c.newest_.begin(), c.newest_.end(),
                       [](uint64_t key) { return key == 0; });
  };
  return a.sets_ == b.sets_ && a.ways_ == b.ways_ &&
         ((a.newest_ == b.newest_ && a.older_ == b.older_) ||
          (unused(a) && unused(b)));
}

}  // namespace lookaside
