// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/page_table_lines.h"

#include <bit>

#include "lookaside/base/check.h"

namespace lookaside {

PageTableLineCache::PageTableLineCache(const LineCacheConfig& config,
                                       Permille data_pressure)
    : set_mask_(config.lines == 0 ? 0 : config.lines / config.ways - 1),
      ways_(config.lines == 0
                ? 0
                : static_cast<uint32_t>(data_pressure.Without(config.ways))) {
  LOOKASIDE_CHECK(std::has_single_bit(sets()));
  LOOKASIDE_CHECK(ways_ <= LruOrder::kMostWays);
  Clear();
}

bool PageTableLineCache::Contains(PhysAddr address) const {
  const LineKey line(address);
  return ways_ != 0 && Find(sets_[SetOf(line)], line) != kNoWay;
}

void PageTableLineCache::Clear() {
  if (ways_ != 0) sets_.assign(sets(), Set{LruOrder(ways_), {}, {}});
}

// Lines by recency: in which way one lies is of no consequence.
void PageTableLineCache::AddTo(Digest& digest) const {
  digest.Add(sets());
  digest.Add(ways_);
  for (size_t i = 0; i < sets_.size(); ++i) {
    const Set& set = sets_[i];
    if (set.Key(set.order.At(0)) == 0) continue;
    digest.Add(i);
    for (uint32_t place = 0; place < ways_; ++place) {
      digest.Add(set.Key(set.order.At(place)));
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
