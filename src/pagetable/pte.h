// SPDX-License-Identifier: Apache-2.0
//
// A paging-structure entry of x86-64 with its real bits (Intel SDM volume 3,
// 4.5, tables 4-15 to 4-20). The same layout serves every level:
//
//   bit 0     P    present
//   bit 1     R/W  writes allowed
//   bit 2     U/S  user-mode accesses allowed
//   bit 3     PWT, bit 4 PCD: memory type
//   bit 5     A    accessed
//   bit 6     D    dirty (leafs)
//   bit 7     PS   maps a page (PDE, PDPTE); PAT in a PTE
//   bit 8     G    global (leafs)
//   51..12    frame; in a 2M or 1G leaf the low bits are zero (bit 12 is PAT)
//   bit 63    XD   no instruction fetch; "nx" here, as in the AMD APM
//
// Left out: protection keys (62..59), the bits that hardware ignores, and the
// check that reserved bits are zero.
//
//   Pte pte = Pte::Leaf(frame, PageSize::k2M, {.writable = true});
//   if (!pte.accessed()) pte = pte.WithAccessed(true);
#ifndef LOOKASIDE_PAGETABLE_PTE_H_
#define LOOKASIDE_PAGETABLE_PTE_H_

#include <cstdint>

#include "lookaside/base/address.h"

namespace lookaside {

// What an entry, or all entries on the way combined, allow.
struct PagePermissions {
  bool writable = false;
  bool user = false;
  bool nx = false;

  friend constexpr bool operator==(const PagePermissions&,
                                   const PagePermissions&) = default;
};

// Two levels: each may forbid (SDM volume 3, 4.6 and 4.10.2.2).
constexpr PagePermissions Combine(PagePermissions a, PagePermissions b) {
  return {a.writable && b.writable, a.user && b.user, a.nx || b.nx};
}

class Pte {
 public:
  static constexpr uint64_t kPresent = uint64_t{1} << 0;
  static constexpr uint64_t kWritable = uint64_t{1} << 1;
  static constexpr uint64_t kUser = uint64_t{1} << 2;
  static constexpr uint64_t kWriteThrough = uint64_t{1} << 3;
  static constexpr uint64_t kCacheDisable = uint64_t{1} << 4;
  static constexpr uint64_t kAccessed = uint64_t{1} << 5;
  static constexpr uint64_t kDirty = uint64_t{1} << 6;
  static constexpr uint64_t kPageSize = uint64_t{1} << 7;
  static constexpr uint64_t kGlobal = uint64_t{1} << 8;
  static constexpr uint64_t kFrameMask = ((uint64_t{1} << 40) - 1) << 12;
  static constexpr uint64_t kNoExecute = uint64_t{1} << 63;

  constexpr Pte() = default;
  constexpr explicit Pte(uint64_t bits) : bits_(bits) {}

  // An entry that points to a table and restricts nothing.
  static constexpr Pte Table(FrameNumber table) {
    return Pte(kPresent | kWritable | kUser | FrameBits(table));
  }
  // A present leaf, neither accessed nor dirty. `frame` is the first of the
  // page. REQUIRES: `frame` is aligned to `size`.
  static constexpr Pte Leaf(FrameNumber frame, PageSize size,
                            PagePermissions permissions) {
    const uint64_t ps = size == PageSize::k4K ? 0 : kPageSize;
    return Pte(kPresent | ps | FrameBits(frame)).WithPermissions(permissions);
  }

  constexpr uint64_t bits() const { return bits_; }
  // All bits zero: never used, or cleared (Linux pte_none).
  constexpr bool none() const { return bits_ == 0; }
  constexpr bool present() const { return Has(kPresent); }
  constexpr bool writable() const { return Has(kWritable); }
  constexpr bool user() const { return Has(kUser); }
  constexpr bool accessed() const { return Has(kAccessed); }
  constexpr bool dirty() const { return Has(kDirty); }
  constexpr bool page_size() const { return Has(kPageSize); }
  constexpr bool global() const { return Has(kGlobal); }
  constexpr bool nx() const { return Has(kNoExecute); }
  constexpr PagePermissions permissions() const {
    return {writable(), user(), nx()};
  }
  constexpr FrameNumber frame() const {
    return FrameNumber((bits_ & kFrameMask) >> kPageShift);
  }

  constexpr Pte WithPresent(bool on) const { return With(kPresent, on); }
  constexpr Pte WithWritable(bool on) const { return With(kWritable, on); }
  constexpr Pte WithUser(bool on) const { return With(kUser, on); }
  constexpr Pte WithAccessed(bool on) const { return With(kAccessed, on); }
  constexpr Pte WithDirty(bool on) const { return With(kDirty, on); }
  constexpr Pte WithGlobal(bool on) const { return With(kGlobal, on); }
  constexpr Pte WithNx(bool on) const { return With(kNoExecute, on); }
  constexpr Pte WithPermissions(PagePermissions p) const {
    return WithWritable(p.writable).WithUser(p.user).WithNx(p.nx);
  }
  constexpr Pte WithFrame(FrameNumber frame) const {
    return Pte((bits_ & ~kFrameMask) | FrameBits(frame));
  }

  friend constexpr bool operator==(Pte, Pte) = default;

 private:
  static constexpr uint64_t FrameBits(FrameNumber frame) {
    return (frame.value() << kPageShift) & kFrameMask;
  }
  constexpr bool Has(uint64_t bit) const { return (bits_ & bit) != 0; }
  constexpr Pte With(uint64_t bit, bool on) const {
    return Pte(on ? bits_ | bit : bits_ & ~bit);
  }

  uint64_t bits_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_PTE_H_
