// SPDX-License-Identifier: Apache-2.0
//
// The mappings of an address space (Linux mm/mmap.c, mm/vma.c): disjoint,
// sorted, split where a change ends within one and merged where neighbours
// have become alike.
//
// Two neighbours are alike when their attributes are and, for shared objects,
// the second continues the first. Left out: anon_vma compatibility, which in
// Linux keeps some private neighbours apart; the limit on their number.
//
// Invariants:
//   1. Mappings are not empty, do not overlap, and no two neighbours that
//      touch are alike.
//   2. total_vm() is the sum of their pages.
//
// A value: comparable, hashable. Thread-compatible.
//
//   VmaSet vmas;
//   vmas.Map({first, end, {.protection = {.write = true}}, 0});
//   for (const Vma& part : vmas.Unmap(first, middle)) ...
#ifndef LOOKASIDE_KERNEL_VMA_SET_H_
#define LOOKASIDE_KERNEL_VMA_SET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lookaside/base/address.h"
#include "lookaside/base/digest.h"
#include "lookaside/kernel/vma.h"

namespace lookaside {

class VmaSet {
 public:
  // Null if no mapping holds the page.
  const Vma* Find(VirtPage page) const;

  // The parts of mappings within [first, end), in order.
  std::vector<Vma> Within(VirtPage first, VirtPage end) const;

  // Whether [first, end) has no hole.
  bool Covers(VirtPage first, VirtPage end) const;
  bool Overlaps(VirtPage first, VirtPage end) const;

  // Enters a mapping, merged with alike neighbours.
  // REQUIRES: it is not empty and overlaps none.
  void Map(const Vma& vma);

  // Removes [first, end) and returns the parts that were there.
  std::vector<Vma> Unmap(VirtPage first, VirtPage end);

  // Gives the parts within [first, end) other attributes, and returns them as
  // they were. `change` decides from the attributes alone.
  std::vector<Vma> Change(VirtPage first, VirtPage end,
                          absl::FunctionRef<void(VmaAttributes&)> change);

  // The highest free range of `pages` pages below `limit`, aligned to `align`
  // pages (Linux arch_get_unmapped_area_topdown). Nothing if there is none.
  std::optional<VirtPage> FindGapBelow(VirtPage limit, uint64_t pages,
                                       uint64_t align) const;

  // The end of the last mapping before `page`, the start of the first one from
  // `page` on. REQUIRES: no mapping holds page - 1 and page.
  std::optional<VirtPage> FloorOf(VirtPage page) const;
  std::optional<VirtPage> CeilingOf(VirtPage page) const;

  uint64_t total_vm() const { return total_vm_; }
  size_t size() const { return vmas_.size(); }
  bool empty() const { return vmas_.empty(); }
  std::vector<Vma> All() const;

  void AddTo(Digest& digest) const;
  void CheckInvariants() const;

  friend bool operator==(const VmaSet&, const VmaSet&) = default;

 private:
  using ByStart = std::map<VirtPage, Vma>;

  // Makes a mapping begin at `page`, if one holds it.
  void SplitAt(VirtPage page);
  // Merges the mapping that begins there with the one before it, if alike.
  void MergeAt(VirtPage page);
  ByStart::const_iterator Holding(VirtPage page) const;

  ByStart vmas_;  // by start
  uint64_t total_vm_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_VMA_SET_H_
