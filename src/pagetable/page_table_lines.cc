// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_table_lines.h"

#include <algorithm>

#include "lookaside/base/check.h"

namespace lookaside {

PageTableLineCache::PageTableLineCache(const LineCacheConfig& config,
                                       Permille data_pressure)
    : sets_(config.lines == 0 ? 1 : config.lines / config.ways),
      ways_(config.lines == 0
                ? 0
                : static_cast<uint32_t>(data_pressure.Without(config.ways))) {
  LOOKASIDE_CHECK(sets_ > 0 && (sets_ & (sets_ - 1)) == 0);
  LOOKASIDE_CHECK(ways_ <= LruOrder::kMostWays);
}

void PageTableLineCache::Allocate() {
  orders_.assign(sets_, LruOrder(ways_));
  tags_.assign(size_t{sets_} * kStride + kTagBlock, 0);
  keys_.assign(size_t{sets_} * kStride, 0);
}

bool PageTableLineCache::Contains(PhysAddr address) const {
  if (orders_.empty()) return false;
  const uint64_t line = address.value() >> kLineShift;
  return Find(SetOf(line), line + 1).has_value();
}

void PageTableLineCache::Clear() {
  orders_.clear();
  tags_.clear();
  keys_.clear();
}

// Lines by recency: in which way one lies is of no consequence.
void PageTableLineCache::AddTo(Digest& digest) const {
  digest.Add(sets_);
  digest.Add(ways_);
  for (size_t set = 0; set < orders_.size(); ++set) {
    if (keys_[set * kStride + orders_[set].At(0)] == 0) continue;
    digest.Add(set);
    for (uint32_t place = 0; place < ways_; ++place) {
      digest.Add(keys_[set * kStride + orders_[set].At(place)]);
    }
  }
  digest.Add(~uint64_t{0});  // no set is this: ends the list
}

bool operator==(const PageTableLineCache& a, const PageTableLineCache& b) {
  Digest of_a;
  Digest of_b;
  a.AddTo(of_a);
  b.AddTo(of_b);
  return of_a.Finish() == of_b.Finish();
}

}  // namespace lookaside
