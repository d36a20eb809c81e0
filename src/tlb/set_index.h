// SPDX-License-Identifier: Apache-2.0
//
// Which set of an array holds a page: the low bits of the page number
// ("linear"), or those XORed with the bits k above them ("xor7", "xor8").
//
// Source: TLB;DR (USENIX Security 2022): XOR-7 in the 128-set STLB of
// Skylake, XOR-8 in the 256-set STLB of Broadwell, linear elsewhere. Bits from
// 2k up take no part, so pages 2^(2k) apart conflict.
// The page number is counted in the size of the entry.
#ifndef LOOKASIDE_TLB_SET_INDEX_H_
#define LOOKASIDE_TLB_SET_INDEX_H_

#include <cstdint>

#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

// How far a hash folds; 0 for linear.
constexpr uint32_t FoldBits(TlbHash hash) {
  switch (hash) {
    case TlbHash::kLinear:
      return 0;
    case TlbHash::kXor7:
      return 7;
    case TlbHash::kXor8:
      return 8;
  }
  return 0;
}

class SetIndex {
 public:
  SetIndex() = default;
  // REQUIRES: sets is a power of two, at most 2^k for xor-k.
  SetIndex(TlbHash hash, uint32_t sets)
      : fold_bits_(hash == TlbHash::kLinear ? 63 : FoldBits(hash)),
        mask_(sets - 1) {}

  uint32_t operator()(uint64_t page_index) const {
    // Linear folds by 63 bits, which are 0 in any page number.
    return static_cast<uint32_t>(page_index ^ (page_index >> fold_bits_)) &
           mask_;
  }

 private:
  uint32_t fold_bits_ = 63;
  uint32_t mask_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_SET_INDEX_H_
