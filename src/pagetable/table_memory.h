// SPDX-License-Identifier: Apache-2.0
//
// What the page-table pages hold: for each frame that is a table, its 512
// entries. All page tables of a machine, of every process and level, live in
// one TableMemory, as they do in physical memory.
//
// Every change of an entry, by the operating system as by a walker that sets
// accessed or dirty, is one call of Write. Nothing else changes an entry.
//
// A tree's root says so (MakeRoot); every table that is hooked into a tree by
// Write then knows which part of which tree it is, also after it is unhooked.
// Where changes are logged, Write notes every change of a present entry that
// copies of it in TLBs and paging-structure caches may contradict. Hardware
// setting accessed or dirty is no such change, and neither is clearing
// accessed.
//
// A frame that is no table reads as if it held zeros: a walker that still
// holds a pointer to a table freed since then finds nothing present. Real
// memory would give it whatever the frame holds now; that the pointer was
// used at all is what the simulator reports.
//
// Invariants: reading takes three array accesses and no search; host memory
// grows with the tables and with the 2 MiB blocks of frames they are in.
//
// Thread-compatible. A value: a copy shares nothing.
//
//   tables.AddTable(frame);
//   tables.Write(EntryAddress(frame, 7), Pte::Table(next));
//   Pte pte = tables.Read(EntryAddress(frame, 7));
#ifndef LOOKASIDE_PAGETABLE_TABLE_MEMORY_H_
#define LOOKASIDE_PAGETABLE_TABLE_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/pagetable/pte.h"
#include "lookaside/tlb/paging_structure_caches.h"

namespace lookaside {

inline constexpr unsigned kEntriesPerTable = 512;
inline constexpr unsigned kEntryBytes = 8;

// Where entry `index` of the table at `table` lies.
constexpr PhysAddr EntryAddress(FrameNumber table, unsigned index) {
  return PhysAddr(StartOf(table).value() + index * kEntryBytes);
}

// Which part of a tree a table is.
struct TablePlace {
  TreeId tree;
  VirtPage first;  // that it translates, by the bits that the tree translates
  PagingLevel level = PagingLevel::kPte;  // of its entries
  bool known = false;

  friend bool operator==(const TablePlace&, const TablePlace&) = default;
};

// A change of a present entry that may have been cached.
struct EntryChange {
  TreeId tree;
  VirtPage first;     // that the entry translates
  PagingLevel level;  // of the entry
  Pte old;
  Pte now;

  friend bool operator==(const EntryChange&, const EntryChange&) = default;
};

class TableMemory {
 public:
  TableMemory();

  // Makes the frame a table of 512 zero entries.
  // REQUIRES: it is none. The frame is in use (FrameAllocator).
  void AddTable(FrameNumber table);
  // REQUIRES: IsTable(table). Its entries need not be zero.
  void RemoveTable(FrameNumber table);
  // Makes the table the root of a new tree. REQUIRES: IsTable(table).
  void MakeRoot(FrameNumber table, PagingLevel level);
  const TablePlace& place(FrameNumber table) const {
    return places_[Slot(table)];
  }
  bool IsTable(FrameNumber table) const { return Slot(table) != 0; }

  Pte Read(PhysAddr entry) const {
    return EntriesOf(FrameNumber(entry.value() >> kPageShift))[IndexIn(entry)];
  }
  // The 512 entries of the table at `table`, until tables are next added.
  const Pte* EntriesOf(FrameNumber table) const {
    return &entries_[Slot(table) * kEntriesPerTable];
  }
  // REQUIRES: `entry` is the address of an entry of a table.
  void Write(PhysAddr entry, Pte value);

  // From now on changes are noted until taken.
  void LogChanges() { log_changes_ = true; }
  bool has_changes() const { return !changes_.empty(); }
  // What has changed since the last call, in order.
  std::vector<EntryChange> TakeChanges() {
    return std::exchange(changes_, std::vector<EntryChange>());
  }

  // Entries of the table that are not zero. REQUIRES: IsTable(table).
  unsigned Used(FrameNumber table) const {
    LOOKASIDE_DCHECK(IsTable(table));
    return used_[Slot(table)];
  }
  // Tables in being.
  size_t size() const { return size_; }

  void AddTo(Digest& digest) const;

  friend bool operator==(const TableMemory& a, const TableMemory& b);

 private:
  static constexpr unsigned kRegionOrder = 9;  // frames: 2 MiB
  static constexpr unsigned kBlockOrder = 18;  // frames: 1 GiB
  using Indexes = std::array<uint32_t, 512>;

  static unsigned IndexIn(PhysAddr entry) {
    return static_cast<unsigned>(entry.value() / kEntryBytes) &
           (kEntriesPerTable - 1);
  }
  // The number of the table in `entries_`; 0 if the frame is none.
  size_t Slot(FrameNumber table) const;
  uint32_t& SlotCell(FrameNumber table);
  void Hook(const TablePlace& place, unsigned index, Pte value);
  void Log(const TablePlace& place, unsigned index, Pte old, Pte now);
  template <typename Visit>  // Visit(frame, slot), in the order of frames
  void ForEachTable(const Visit& visit) const;

  // Index 0 everywhere stands for "nothing here": region 0 has only zeros,
  // and table 0 is never written.
  std::vector<uint32_t> blocks_;  // by frame >> 18: index into blocks' regions
  uint64_t block_count_ = 0;      // its size, which every walk asks for
  std::vector<Indexes> regions_of_block_;  // by frame >> 9 & 511
  std::vector<Indexes> slots_of_region_;   // by frame & 511
  std::vector<Pte> entries_;               // 512 per slot
  std::vector<uint16_t> used_;             // per slot
  std::vector<TablePlace> places_;         // per slot
  std::vector<uint32_t> free_slots_;
  size_t size_ = 0;
  uint32_t trees_ = 0;  // that there ever were
  bool log_changes_ = false;
  std::vector<EntryChange> changes_;
};

// ---------------------------------------------------------------------------
// Implementation of what every walk does.

inline size_t TableMemory::Slot(FrameNumber table) const {
  const uint64_t frame = table.value();
  const uint64_t block = frame >> kBlockOrder;
  if (block >= block_count_) return 0;
  const Indexes& regions = regions_of_block_[blocks_[block]];
  const Indexes& slots = slots_of_region_[regions[frame >> kRegionOrder & 511]];
  return slots[frame & 511];
}

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_TABLE_MEMORY_H_
