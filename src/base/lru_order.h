// SPDX-License-Identifier: Apache-2.0
//
// The order of use of up to 16 ways in one word: four bits a way, the most
// recently used lowest. Exact LRU whose victim needs no search, and whose
// update needs no loop (Walk_Random4K in bench/walk_benchmark.cc). Inlined in
// any case: a call costs as much (BM_UniformRandom).
//
//   LruOrder order(8);
//   order.Touch(3);
//   uint32_t victim = order.Oldest(8);
#ifndef LOOKASIDE_BASE_LRU_ORDER_H_
#define LOOKASIDE_BASE_LRU_ORDER_H_

#include <bit>
#include <cstdint>

namespace lookaside {

class LruOrder {
 public:
  static constexpr uint32_t kMostWays = 16;

  LruOrder() = default;
  // Way 0 is the oldest. REQUIRES: 1 <= ways <= kMostWays.
  explicit LruOrder(uint32_t ways) {
    for (uint32_t way = 0; way < ways; ++way) bits_ = bits_ << 4 | way;
  }

  // Makes `way` the most recently used. REQUIRES: way is one of the ways.
  [[gnu::always_inline]] void Touch(uint32_t way) {
    // Nibbles that equal the way are zero in `differs`; the lowest zero is
    // found exactly, and what lies above the ways' own places is never lowest.
    const uint64_t differs = bits_ ^ (kOnes * way);
    const uint64_t zeros = (differs - kOnes) & ~differs & (kOnes << 3);
    const auto place = static_cast<uint32_t>(std::countr_zero(zeros)) & ~3u;
    const uint64_t younger = (uint64_t{1} << place) - 1;
    const uint64_t moved = (bits_ & younger) << 4 | way;
    const uint64_t taken = younger << 4 | 15;
    bits_ = (bits_ & ~taken) | moved;
  }

  // Makes the oldest way the most recently used, and returns it.
  // REQUIRES: `ways` is what the order was made for.
  [[gnu::always_inline]] uint32_t TouchOldest(uint32_t ways) {
    const uint32_t way = Oldest(ways);
    bits_ = bits_ << 4 | way;
    return way;
  }

  // Makes `way` the oldest. REQUIRES: as for Touch and TouchOldest.
  void Retire(uint32_t way, uint32_t ways) {
    // Past the front, and once around.
    Touch(way);
    for (uint32_t place = 1; place < ways; ++place) TouchOldest(ways);
  }

  // REQUIRES: `ways` is what the order was made for.
  uint32_t Oldest(uint32_t ways) const { return At(ways - 1); }

  // The way at `place`, 0 for the most recently used.
  uint32_t At(uint32_t place) const {
    return static_cast<uint32_t>(bits_ >> (4 * place)) & 15u;
  }

 private:
  static constexpr uint64_t kOnes = 0x1111111111111111u;

  // A place for each way, the lowest for the one used last; above them nothing
  // of any meaning.
  uint64_t bits_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_LRU_ORDER_H_
