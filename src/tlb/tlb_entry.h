// SPDX-License-Identifier: Apache-2.0
//
// One cached translation as a value, and the 64-bit key by which an array
// finds it: page number in the entry's size (45 bits), size (2 bits) and
// context tag (16 bits). Context tag 0 names nothing, so key 0 is no entry.
//
// A page may be held in pieces ("fractured") where an array has no room for
// its size: `size` is the piece's, `origin` the page's. INVLPG drops every
// piece of the page (SDM volume 3, 4.10.2.3).
#ifndef LOOKASIDE_TLB_TLB_ENTRY_H_
#define LOOKASIDE_TLB_TLB_ENTRY_H_

#include <cstdint>

#include "lookaside/base/address.h"
#include "lookaside/tlb/context_table.h"

namespace lookaside {

// Attributes of a translation: all levels of the walk combined.
enum TlbFlag : uint8_t {
  kTlbWritable = 1 << 0,
  kTlbUser = 1 << 1,
  kTlbNoExecute = 1 << 2,
  kTlbDirty = 1 << 3,
  kTlbGlobal = 1 << 4,
  // The page table has changed under the entry (machine/stale_entries.h).
  kTlbStale = 1 << 5,
};

struct TlbEntry {
  VirtPage page;       // the first 4 KiB page of the entry
  FrameNumber frame;   // where `page` is
  ContextTag context;  // the VPID's global context when kTlbGlobal is set
  PageSize size = PageSize::k4K;
  PageSize origin = PageSize::k4K;
  uint8_t flags = 0;
  ThreadSlot thread;  // that filled it, in whose share it is
  // The translation tree it came from, as TreeId; of a stale entry the change
  // that made it so, as ChangeId.
  uint32_t source = 0;

  friend bool operator==(const TlbEntry&, const TlbEntry&) = default;
};

using TlbKey = uint64_t;
inline constexpr TlbKey kNoTlbKey = 0;

constexpr TlbKey MakeTlbKey(ContextTag context, VirtPage page, PageSize size) {
  return PageIndex(page, size) |
         static_cast<uint64_t>(Index(size)) << kVirtPageBits |
         static_cast<uint64_t>(context.value()) << (kVirtPageBits + 2);
}

constexpr PageSize SizeOf(TlbKey key) {
  return static_cast<PageSize>((key >> kVirtPageBits) & 3);
}

constexpr VirtPage PageOfKey(TlbKey key) {
  return VirtPage((key & kVirtPageMask) << PageOrder(SizeOf(key)));
}

constexpr ContextTag ContextOf(TlbKey key) {
  return ContextTag(static_cast<uint16_t>(key >> (kVirtPageBits + 2)));
}

// The piece of `entry` of the size `piece` that holds `page`.
// REQUIRES: piece <= entry.size and page within the entry.
constexpr TlbEntry Piece(const TlbEntry& entry, VirtPage page, PageSize piece) {
  TlbEntry result = entry;
  if (piece == entry.size) return result;
  result.page = AlignDown(page, piece);
  result.frame = FrameNumber(entry.frame.value() + result.page.value() -
                             entry.page.value());
  result.size = piece;
  return result;
}

// Who asks: the address space loaded on a hardware thread.
struct TlbContext {
  ContextTag tag;
  ContextTag global;  // of the same VPID
  ThreadSlot thread;

  friend bool operator==(const TlbContext&, const TlbContext&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_TLB_ENTRY_H_
