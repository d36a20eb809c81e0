// SPDX-License-Identifier: Apache-2.0
//
// Addresses, page numbers and page sizes of x86-64 and of Arm with a 4 KiB
// granule (Intel SDM volume 3, chapter 4 "Paging").
//
// A `VirtAddr` is the 64-bit linear address. It is canonical when bits 63 to
// N-1 are equal, N = 48 with four paging levels and 57 with five. A
// `VirtPage` is the number of a 4 KiB page, bits 56..12 of the address: the
// 45 bits that any translation can depend on.
// A `FrameNumber` is a physical address divided by 4 KiB.
#ifndef LOOKASIDE_BASE_ADDRESS_H_
#define LOOKASIDE_BASE_ADDRESS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lookaside/base/typed_int.h"

namespace lookaside {

struct VirtAddrTag;
struct PhysAddrTag;
struct VirtPageTag;
struct FrameNumberTag;

using VirtAddr = TypedInt<VirtAddrTag, uint64_t>;
using PhysAddr = TypedInt<PhysAddrTag, uint64_t>;
using VirtPage = TypedInt<VirtPageTag, uint64_t>;
using FrameNumber = TypedInt<FrameNumberTag, uint64_t>;

inline constexpr unsigned kPageShift = 12;
inline constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;
inline constexpr unsigned kVirtPageBits = 45;
inline constexpr uint64_t kVirtPageMask = (uint64_t{1} << kVirtPageBits) - 1;

// The three page sizes of x86-64, smallest first; usable as an array index.
enum class PageSize : uint8_t { k4K = 0, k2M = 1, k1G = 2 };
inline constexpr size_t kPageSizes = 3;
inline constexpr PageSize kAllPageSizes[] = {PageSize::k4K, PageSize::k2M,
                                             PageSize::k1G};

constexpr size_t Index(PageSize size) { return static_cast<size_t>(size); }

// log2 of the number of 4 KiB pages in a page of this size: 0, 9 or 18.
constexpr unsigned PageOrder(PageSize size) {
  return 9u * static_cast<unsigned>(size);
}

constexpr uint64_t PagesIn(PageSize size) {
  return uint64_t{1} << PageOrder(size);
}

constexpr std::string_view Name(PageSize size) {
  constexpr std::string_view kNames[] = {"4K", "2M", "1G"};
  return kNames[static_cast<int>(size)];
}

constexpr VirtPage PageOf(VirtAddr address) {
  return VirtPage((address.value() >> kPageShift) & kVirtPageMask);
}

// The first 4 KiB page of the page of `size` that holds `page`.
constexpr VirtPage AlignDown(VirtPage page, PageSize size) {
  return VirtPage(page.value() & ~(PagesIn(size) - 1));
}

// The number of the page of `size` that holds `page`, counted in that size.
constexpr uint64_t PageIndex(VirtPage page, PageSize size) {
  return page.value() >> PageOrder(size);
}

// The canonical address at which `page` begins (sign extended from bit 56).
constexpr VirtAddr StartOf(VirtPage page) {
  const uint64_t bits = page.value() << kPageShift;
  const uint64_t sign = uint64_t{1} << 56;
  return VirtAddr((bits ^ sign) - sign);
}

// The page of which `translated` holds the bits that a tree of `levels`
// translates: sign extended from the highest of them.
constexpr VirtPage CanonicalPage(VirtPage translated, int levels) {
  const uint64_t sign = uint64_t{1} << (9 * levels - 1);
  const uint64_t bits = translated.value() & (2 * sign - 1);
  return VirtPage(((bits ^ sign) - sign) & kVirtPageMask);
}

constexpr PhysAddr StartOf(FrameNumber frame) {
  return PhysAddr(frame.value() << kPageShift);
}

// Whether bits 63..(12 + 9 * levels - 1) are all equal. REQUIRES: levels is 4
// or 5.
constexpr bool IsCanonical(VirtAddr address, int levels) {
  const int bits = 12 + 9 * levels;
  const auto top = static_cast<int64_t>(address.value()) >> (bits - 1);
  return top == 0 || top == -1;
}

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_ADDRESS_H_
