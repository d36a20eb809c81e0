// SPDX-License-Identifier: Apache-2.0
//
// Who uses a frame of the program's memory: how many references hold it, and
// which entries of which address spaces map it (Linux struct page: _refcount
// and, by reverse map, mm/rmap.c). Fork's copy on write, reclaim, migration
// and same-page merging need to find the entries; freeing needs the count.
//
// Every mapping holds one reference. Others are held by a gather between
// unmapping and freeing, and by a shared object for its pages.
//
// A page of 2M is one frame here, named by its first; its parts may be mapped
// one by one after a split, each with a reference, and it is freed as a whole
// when the last goes (Linux's compound pages, without the deferred split).
//
// A value: comparable, hashable. Thread-compatible.
//
//   frames.Add(frame, PageSize::k4K);          // one reference
//   frames.AddMapping(frame, {mm, page});      // two
//   if (frames.Put(frame)) ...                 // the last: give it back
#ifndef LOOKASIDE_KERNEL_FRAME_TABLE_H_
#define LOOKASIDE_KERNEL_FRAME_TABLE_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "lookaside/base/address.h"
#include "lookaside/base/digest.h"
#include "lookaside/kernel/mm_id.h"

namespace lookaside {

// An entry that maps a frame: that of `page`, whatever its size.
struct FrameMapping {
  MmId mm;
  VirtPage page;

  friend auto operator<=>(const FrameMapping&, const FrameMapping&) = default;
};

class FrameTable {
 public:
  // Several frames of one use: nearly all have one mapping.
  using Mappings = absl::InlinedVector<FrameMapping, 1>;
  struct Use {
    PageSize size = PageSize::k4K;
    uint32_t references = 0;
    Mappings mappings;  // ascending

    friend bool operator==(const Use&, const Use&) = default;
  };

  // A frame that the allocator gave, with one reference.
  // REQUIRES: it is not in use.
  void Add(FrameNumber frame, PageSize size);

  // The first frame of the page that `frame` is part of.
  // REQUIRES: that page is in use.
  FrameNumber HeadOf(FrameNumber frame) const;
  bool InUse(FrameNumber frame) const;

  // Of the page that `frame` is part of. REQUIRES: it is in use.
  const Use& UseOf(FrameNumber frame) const;

  void Get(FrameNumber frame);
  // Drops a reference; true if it was the last: the page is no longer in use,
  // and the caller gives it to the allocator. REQUIRES: it is in use, and has
  // more references than mappings.
  bool Put(FrameNumber frame);

  // Each adds or hands over one reference.
  void AddMapping(FrameNumber frame, const FrameMapping& mapping);
  // Its reference becomes the caller's to Put. REQUIRES: it is there.
  void RemoveMapping(FrameNumber frame, const FrameMapping& mapping);

  size_t size() const { return uses_.size(); }

  // In the order of frames. Expensive.
  std::vector<FrameNumber> All() const;

  void AddTo(Digest& digest) const;
  friend bool operator==(const FrameTable&, const FrameTable&) = default;

 private:
  Use& Mutable(FrameNumber frame);

  absl::flat_hash_map<uint64_t, Use> uses_;  // by the page's first frame
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FRAME_TABLE_H_
