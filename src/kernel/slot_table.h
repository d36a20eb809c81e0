// SPDX-License-Identifier: Apache-2.0
//
// Things that live for a while and are named by a number: address spaces,
// flushes in flight, gathers. The lowest free number is given, so equal
// contents came by equal numbers. References stay good until the next Add.
//
// A value.
#ifndef LOOKASIDE_KERNEL_SLOT_TABLE_H_
#define LOOKASIDE_KERNEL_SLOT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"

namespace lookaside {

template <typename T>
class SlotTable {
 public:
  uint32_t Add(T value) {
    uint32_t slot = 0;
    while (slot < slots_.size() && slots_[slot].has_value()) ++slot;
    if (slot == slots_.size()) slots_.emplace_back();
    slots_[slot] = std::move(value);
    return slot;
  }
  void Remove(uint32_t slot) {
    LOOKASIDE_CHECK(Has(slot));
    slots_[slot].reset();
    while (!slots_.empty() && !slots_.back().has_value()) slots_.pop_back();
  }
  bool Has(uint32_t slot) const {
    return slot < slots_.size() && slots_[slot].has_value();
  }
  T& operator[](uint32_t slot) {
    LOOKASIDE_DCHECK(Has(slot));
    return *slots_[slot];
  }
  const T& operator[](uint32_t slot) const {
    LOOKASIDE_DCHECK(Has(slot));
    return *slots_[slot];
  }
  // Past the highest number in use.
  uint32_t end() const { return static_cast<uint32_t>(slots_.size()); }
  bool empty() const { return slots_.empty(); }

  void AddTo(Digest& digest) const {
    digest.Add(slots_.size());
    for (const std::optional<T>& slot : slots_) {
      digest.Add(slot.has_value());
      if (slot) slot->AddTo(digest);
    }
  }
  friend bool operator==(const SlotTable&, const SlotTable&) = default;

 private:
  std::vector<std::optional<T>> slots_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_SLOT_TABLE_H_
