// SPDX-License-Identifier: Apache-2.0
//
// Names the address spaces whose translations a core caches. Hardware tags an
// entry with VPID, PCID and, here, the hardware thread: the same PCID number
// on two siblings is two address spaces (Linux hands PCIDs out per logical
// CPU). That triple does not fit beside a page number in one word, so each
// core numbers the triples it has seen: a `ContextTag` is that number.
//
// Global translations carry the tag of their VPID's global context, which no
// thread owns.
//
// Invariants: a tag is never reused while its core lives; tag 0 names
// nothing. Digests must resolve tags through the table, since the order of
// appearance is history, not state.
#ifndef LOOKASIDE_TLB_CONTEXT_TABLE_H_
#define LOOKASIDE_TLB_CONTEXT_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"

namespace lookaside {

struct ContextTagTag;
using ContextTag = TypedInt<ContextTagTag, uint16_t>;

inline constexpr unsigned kContextTagBits = 16;

struct AddressSpaceTag {
  Vpid vpid;
  Pcid pcid;
  ThreadSlot thread;
  bool global = false;  // pcid and thread are then 0

  friend bool operator==(const AddressSpaceTag&,
                         const AddressSpaceTag&) = default;

  template <typename H>
  friend H AbslHashValue(H h, const AddressSpaceTag& tag) {
    return H::combine(std::move(h), tag.vpid, tag.pcid, tag.thread, tag.global);
  }
};

class ContextTable {
 public:
  ContextTable() : tags_(1) {}

  // The tag of that address space, new if it has none yet. CHECKs that no
  // more than 65535 are in use.
  ContextTag Intern(const AddressSpaceTag& space);

  // The tag of the global translations of a VPID.
  ContextTag InternGlobal(Vpid vpid) {
    return Intern({vpid, Pcid(0), ThreadSlot(0), true});
  }

  // REQUIRES: `tag` came from Intern.
  const AddressSpaceTag& Resolve(ContextTag tag) const {
    return tags_[tag.value()];
  }

  void AddTo(Digest& digest, ContextTag tag) const;

 private:
  std::vector<AddressSpaceTag> tags_;
  absl::flat_hash_map<AddressSpaceTag, uint16_t> numbers_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_CONTEXT_TABLE_H_
