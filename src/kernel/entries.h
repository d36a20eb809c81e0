// SPDX-License-Identifier: Apache-2.0
//
// Entries of page tables as the kernel sees them: where one stands, the next
// one in use, and those that are not present but mean something. Hardware
// ignores the other bits of an entry that is not present; Linux keeps there
// (arch/x86/include/asm/pgtable_64.h), and so do we:
//
//   bit 8   with a frame: PROT_NONE, which no access may use (_PAGE_PROTNONE);
//           NUMA hints are the same entry in a mapping that allows accesses
//   bit 9   a slot of swap space in the place of the frame
#ifndef LOOKASIDE_KERNEL_ENTRIES_H_
#define LOOKASIDE_KERNEL_ENTRIES_H_

#include <cstdint>
#include <optional>

#include "lookaside/base/address.h"
#include "lookaside/pagetable/page_table.h"
#include "lookaside/pagetable/pte.h"
#include "lookaside/pagetable/table_memory.h"
#include "lookaside/tlb/paging_structure_caches.h"

namespace lookaside {

inline constexpr uint64_t kSwapBit = uint64_t{1} << 9;

constexpr Pte SwapPte(uint64_t slot) {
  return Pte(slot << kPageShift | kSwapBit);
}
constexpr bool IsSwap(Pte pte) {
  return !pte.present() && (pte.bits() & kSwapBit) != 0;
}
constexpr uint64_t SwapSlot(Pte pte) { return pte.frame().value(); }

constexpr Pte ProtNone(Pte pte) {
  return pte.WithPresent(false).WithGlobal(true);
}
constexpr bool IsProtNone(Pte pte) { return !pte.present() && pte.global(); }
// REQUIRES: IsProtNone(pte).
constexpr Pte FromProtNone(Pte pte) {
  return pte.WithPresent(true).WithGlobal(false);
}
// Whether the entry holds a frame of the program.
constexpr bool MapsFrame(Pte pte) { return pte.present() || IsProtNone(pte); }

// An entry where it stands. At level k, it covers pages from `page` on.
struct EntryRef {
  PhysAddr address;
  Pte pte;
  PagingLevel level = PagingLevel::kPte;
  VirtPage page;

  // REQUIRES: level is one that can hold a leaf.
  PageSize size() const { return static_cast<PageSize>(level); }
  VirtPage end() const {
    return VirtPage(page.value() + (uint64_t{1} << SpanOrder(level)));
  }
};

// The entry at which a walk for `page` ends: a leaf, or one that is not
// present at any level.
EntryRef FindEntry(const TableMemory& tables, const PageTable& table,
                   VirtPage page);

// The first entry that is not zero, and no table, of pages in [first, end).
std::optional<EntryRef> NextEntry(const TableMemory& tables,
                                  const PageTable& table, VirtPage first,
                                  VirtPage end);

// Whether a large leaf begins before `page` and ends behind it.
bool StraddlesHuge(const TableMemory& tables, const PageTable& table,
                   VirtPage page);

// Past the last page of a program with `levels` levels of tables.
constexpr VirtPage UserEnd(int levels) {
  return VirtPage(uint64_t{1} << (9 * levels - 1));
}

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_ENTRIES_H_
