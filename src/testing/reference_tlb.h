// SPDX-License-Identifier: Apache-2.0
//
// The naive twin of tlb/tlb.h: the entries lie in one list that every
// operation searches from end to end, and sets, shares and free ways are
// worked out anew each time. Slow; for tests.
#ifndef LOOKASIDE_TESTING_REFERENCE_TLB_H_
#define LOOKASIDE_TESTING_REFERENCE_TLB_H_

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <vector>

#include "lookaside/base/rng.h"
#include "lookaside/testing/reference_tlb_replacement.h"
#include "lookaside/tlb/tlb_config.h"
#include "lookaside/tlb/tlb_entry.h"

namespace lookaside {

class ReferenceTlb {
 public:
  ReferenceTlb(const TlbConfig& config, uint32_t threads, uint64_t seed);

  const TlbConfig& config() const { return config_; }

  // The entry of exactly `size` for `page`, in the share of the context's
  // thread: its own before a global one. Null if there is none.
  TlbEntry* Find(const TlbContext& context, VirtPage page, PageSize size);
  void OnHit(const TlbEntry* entry);
  void Drop(const TlbEntry* entry);

  struct Inserted {
    TlbEntry* entry = nullptr;
    std::optional<TlbEntry> evicted;
    uint32_t dropped = 0;
  };
  Inserted Insert(const TlbEntry& entry);

  bool HasRoomFor(const TlbEntry& entry) const;
  uint32_t DropPage(const TlbContext& context, VirtPage page, bool globals);
  uint32_t DropWithin(ContextTag context, VirtPage first, PageSize size);
  uint32_t DropContextsIf(const std::function<bool(ContextTag)>& drop);
  uint32_t OnLoadContext(ContextTag context, ThreadSlot thread);
  uint32_t SetActiveThreads(uint32_t mask);

  std::vector<TlbEntry> Entries() const;

 private:
  // Where an entry is; `set` counts within the share.
  struct Place {
    uint32_t share = 0;
    uint32_t set = 0;
    uint32_t way = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Held {
    Place place;
    TlbEntry entry;
  };

  uint32_t ActiveThreads() const;
  uint32_t Shares() const;
  uint32_t SetsOfShare() const;
  uint32_t WaysOfShare() const;
  uint32_t ShareOf(ThreadSlot thread) const;
  uint32_t SetOf(VirtPage page, PageSize size) const;
  Held* At(const Place& place);
  const Held* HolderOf(const TlbEntry* entry) const;
  ReferenceReplacement& PolicyOf(const Place& place);
  uint32_t DropIf(const std::function<bool(const Held&)>& drop);
  void Empty();

  TlbConfig config_;
  uint32_t threads_;
  uint64_t seed_;
  uint32_t active_mask_ = 1;
  std::list<Held> held_;
  std::vector<ReferenceReplacement> policies_;  // share by share
  Rng rng_;
  std::vector<std::list<ContextTag>> pcid_slots_;  // most recent first
};

}  // namespace lookaside

#endif  // LOOKASIDE_TESTING_REFERENCE_TLB_H_
