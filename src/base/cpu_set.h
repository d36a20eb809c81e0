// SPDX-License-Identifier: Apache-2.0
//
// A set of hardware threads: the kernel's cpumask, the targets of an
// interrupt. Grows with the highest member; iterates in ascending order.
//
// A value. Equal sets compare equal however they came to be: no word above
// the highest member is kept.
//
//   CpuSet targets = mm.cpumask;
//   targets.Remove(self);
//   targets.ForEach([&](CpuId cpu) { ... });
#ifndef LOOKASIDE_BASE_CPU_SET_H_
#define LOOKASIDE_BASE_CPU_SET_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"

namespace lookaside {

class CpuSet {
 public:
  CpuSet() = default;

  void Add(CpuId cpu) {
    const size_t word = cpu.value() / kWordBits;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= BitOf(cpu);
  }
  void Remove(CpuId cpu) {
    const size_t word = cpu.value() / kWordBits;
    if (word >= words_.size()) return;
    words_[word] &= ~BitOf(cpu);
    Trim();
  }
  bool Has(CpuId cpu) const {
    const size_t word = cpu.value() / kWordBits;
    return word < words_.size() && (words_[word] & BitOf(cpu)) != 0;
  }
  bool empty() const { return words_.empty(); }
  size_t size() const {
    size_t count = 0;
    for (const uint64_t word : words_) {
      count += static_cast<size_t>(std::popcount(word));
    }
    return count;
  }
  void Clear() { words_.clear(); }

  CpuSet& operator|=(const CpuSet& other) {
    if (other.words_.size() > words_.size()) {
      words_.resize(other.words_.size());
    }
    for (size_t i = 0; i < other.words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
    return *this;
  }

  CpuSet& operator&=(const CpuSet& other) {
    if (words_.size() > other.words_.size()) words_.resize(other.words_.size());
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    Trim();
    return *this;
  }

  // Calls visit(CpuId) for each member; `visit` may change a copy, not this.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t left = words_[i]; left != 0; left &= left - 1) {
        const auto bit = static_cast<uint32_t>(std::countr_zero(left));
        visit(CpuId(static_cast<uint32_t>(i) * kWordBits + bit));
      }
    }
  }

  void AddTo(Digest& digest) const {
    digest.Add(words_.size());
    for (const uint64_t word : words_) digest.Add(word);
  }
  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  static constexpr uint32_t kWordBits = 64;
  static uint64_t BitOf(CpuId cpu) {
    return uint64_t{1} << (cpu.value() % kWordBits);
  }
  void Trim() {
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
  }

  std::vector<uint64_t> words_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_CPU_SET_H_
