// SPDX-License-Identifier: Apache-2.0
//
// Which 64-byte lines of page tables the data caches hold. A walker's load
// costs what the place of its line says; hardware fetches page-table entries
// through the ordinary data caches (Intel's PAGE_WALKER_LOADS events count
// them by L1, L2, L3 and memory).
//
// Only page-table lines are tracked. Data shares the caches with them and is
// told by one number, `walk.data_pressure`: each cache keeps only the rest of
// its ways, rounded up, and is not there at all at 1.
//
// Left out: coherence (a store to an entry does not move its line; another
// core's copies stay where they are), lines that data really displaces,
// inclusion between levels, prefetch, and the time a line takes to arrive.
//
// Invariants: a set's lines lie in order of use, most recent first, without
// gaps; so equal contents are equal states.
//
// Thread-compatible. A value: a copy shares nothing.
//
//   if (cache.Load(LineKey(address))) ...  // a miss brings it in
#ifndef LOOKASIDE_PAGETABLE_PAGE_TABLE_LINES_H_
#define LOOKASIDE_PAGETABLE_PAGE_TABLE_LINES_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/lru_order.h"
#include "lookaside/base/permille.h"
#include "lookaside/base/tag_match.h"
#include "lookaside/pagetable/walk_config.h"

namespace lookaside {

inline constexpr unsigned kLineShift = 6;

// Where a load found its line; usable as an array index.
enum class LinePlace : uint8_t {
  kL1,
  kL2,
  kL3,
  kLocalMemory,   // of the walking CPU's socket
  kRemoteMemory,  // of any other
};
inline constexpr int kLinePlaces = 5;

constexpr size_t Index(LinePlace place) { return static_cast<size_t>(place); }

constexpr std::string_view Name(LinePlace place) {
  constexpr std::string_view kNames[kLinePlaces] = {"l1", "l2", "l3", "local",
                                                    "remote"};
  return kNames[static_cast<int>(place)];
}

// The line that holds an address, ready to be looked for in one cache after
// another (BM_UniformRandom in bench/replay_benchmark.cc).
class LineKey {
 public:
  explicit LineKey(PhysAddr address)
      : key_((address.value() >> kLineShift) + 1),
        wanted_(static_cast<uint32_t>(key_)) {}

  uint64_t line() const { return key_ - 1; }
  // Of its number + 1, so that 0 is no line.
  uint32_t low() const { return static_cast<uint32_t>(key_); }
  uint16_t high() const { return static_cast<uint16_t>(key_ >> 32); }
  WantedTag wanted_low() const { return wanted_; }

 private:
  uint64_t key_;
  WantedTag wanted_;
};

// One cache: set-associative, LRU, indexed by the low bits of the line.
class PageTableLineCache {
 public:
  // REQUIRES: Validate(WalkConfig) accepts `config`.
  PageTableLineCache(const LineCacheConfig& config, Permille data_pressure);

  // Whether the line is here; brings it in if not, and makes it the most
  // recently used of its set. A cache without ways holds nothing.
  bool Load(const LineKey& line);
  // The same for the line that holds `address`.
  bool Load(PhysAddr address) { return Load(LineKey(address)); }

  // Whether it is here; changes nothing.
  bool Contains(PhysAddr address) const;

  // Drops every line.
  void Clear();

  uint32_t sets() const { return set_mask_ + 1; }
  uint32_t ways() const { return ways_; }  // those that data leaves

  void AddTo(Digest& digest) const;

  friend bool operator==(const PageTableLineCache& a,
                         const PageTableLineCache& b);

 private:
  // One set, in two host lines. A LineKey, 0 if empty: its low half in `low`,
  // the rest, which 46 bits of line leave at most 15 bits, in `high`.
  struct alignas(64) Set {
    LruOrder order;
    std::array<uint32_t, LruOrder::kMostWays> low{};
    std::array<uint16_t, LruOrder::kMostWays> high{};

    uint64_t Key(uint32_t way) const {
      return uint64_t{high[way]} << 32 | low[way];
    }
  };
  static_assert(LruOrder::kMostWays == kTagBlock);

  static constexpr uint32_t kNoWay = LruOrder::kMostWays;

  size_t SetOf(const LineKey& line) const {
    return static_cast<size_t>(line.line()) & set_mask_;
  }
  // The way that holds the line, or kNoWay. REQUIRES: ways_ > 0.
  uint32_t Find(const Set& set, const LineKey& line) const;

  uint32_t set_mask_;
  uint32_t ways_;
  std::vector<Set> sets_;  // none without ways
};

// A core's own caches.
struct CoreLineCaches {
  PageTableLineCache l1;
  PageTableLineCache l2;

  explicit CoreLineCaches(const WalkConfig& config)
      : l1(config.l1, config.data_pressure),
        l2(config.l2, config.data_pressure) {}

  void AddTo(Digest& digest) const {
    l1.AddTo(digest);
    l2.AddTo(digest);
  }
  friend bool operator==(const CoreLineCaches&,
                         const CoreLineCaches&) = default;
};

// ---------------------------------------------------------------------------
// Implementation of what every walk does.

[[gnu::always_inline]] inline uint32_t PageTableLineCache::Find(
    const Set& set, const LineKey& line) const {
  const WantedTag wanted = line.wanted_low();
  uint32_t matches = ways_ <= 8 ? MatchTagFours<2>(set.low.data(), wanted)
                                : MatchTagFours<4>(set.low.data(), wanted);
  for (; matches != 0; matches &= matches - 1) {
    const auto way = static_cast<uint32_t>(std::countr_zero(matches));
    if (set.high[way] == line.high()) [[likely]]
      return way;
  }
  return kNoWay;
}

[[gnu::always_inline]] inline bool PageTableLineCache::Load(
    const LineKey& line) {
  if (ways_ == 0) return false;
  Set& set = sets_[SetOf(line)];
  const uint32_t hit = Find(set, line);
  if (hit != kNoWay) {
    set.order.Touch(hit);
    return true;
  }
  const uint32_t way = set.order.TouchOldest(ways_);
  set.low[way] = line.low();
  set.high[way] = line.high();
  return false;
}

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_PAGE_TABLE_LINES_H_
