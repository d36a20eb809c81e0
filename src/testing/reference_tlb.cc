// SPDX-License-Identifier: Apache-2.0
#include "lookaside/testing/reference_tlb.h"

#include "lookaside/base/check.h"

namespace lookaside {

ReferenceTlb::ReferenceTlb(const TlbConfig& config, uint32_t threads,
                           uint64_t seed)
    : config_(config), threads_(threads), seed_(seed), pcid_slots_(threads) {
  Empty();
}

void ReferenceTlb::Empty() {
  held_.clear();
  policies_.assign(size_t{Shares()} * SetsOfShare(),
                   ReferenceReplacement(config_.replacement, WaysOfShare()));
  rng_ = Rng(seed_);
}

uint32_t ReferenceTlb::ActiveThreads() const {
  uint32_t count = 0;
  for (uint32_t thread = 0; thread < 32; ++thread) {
    if ((active_mask_ & (1u << thread)) != 0) ++count;
  }
  return count;
}

// A power of two, so that sets stay one.
uint32_t ReferenceTlb::Shares() const {
  if (config_.smt == TlbSmt::kCompetitive) return 1;
  if (config_.smt == TlbSmt::kReplicated) return threads_;
  uint32_t shares = 1;
  while (shares < ActiveThreads()) shares *= 2;
  return shares;
}

uint32_t ReferenceTlb::SetsOfShare() const {
  if (config_.smt != TlbSmt::kPartitioned) return config_.sets();
  return config_.sets() >= Shares() ? config_.sets() / Shares() : 1;
}

uint32_t ReferenceTlb::WaysOfShare() const {
  if (config_.smt != TlbSmt::kPartitioned) return config_.ways;
  return config_.entries / Shares() / SetsOfShare();
}

// The active threads take shares in their order.
uint32_t ReferenceTlb::ShareOf(ThreadSlot thread) const {
  if (config_.smt == TlbSmt::kCompetitive) return 0;
  if (config_.smt == TlbSmt::kReplicated) return thread.value();
  uint32_t share = 0;
  for (uint32_t before = 0; before < thread.value(); ++before) {
    if ((active_mask_ & (1u << before)) != 0) ++share;
  }
  return share;
}

uint32_t ReferenceTlb::SetOf(VirtPage page, PageSize size) const {
  const uint64_t number = page.value() / PagesIn(size);
  const uint64_t sets = SetsOfShare();
  uint64_t set = number % sets;
  if (config_.hash == TlbHash::kXor7) set ^= number / 128 % sets;
  if (config_.hash == TlbHash::kXor8) set ^= number / 256 % sets;
  return static_cast<uint32_t>(set);
}

ReferenceTlb::Held* ReferenceTlb::At(const Place& place) {
  for (Held& held : held_) {
    if (held.place == place) return &held;
  }
  return nullptr;
}

const ReferenceTlb::Held* ReferenceTlb::HolderOf(const TlbEntry* entry) const {
  for (const Held& held : held_) {
    if (&held.entry == entry) return &held;
  }
  LOOKASIDE_CHECK(false && "not an entry of this array");
  return nullptr;
}

ReferenceReplacement& ReferenceTlb::PolicyOf(const Place& place) {
  return policies_.at(place.share * SetsOfShare() + place.set);
}

TlbEntry* ReferenceTlb::Find(const TlbContext& context, VirtPage page,
                             PageSize size) {
  for (ContextTag tag : {context.tag, context.global}) {
    for (Held& held : held_) {
      if (held.place.share == ShareOf(context.thread) &&
          held.entry.context == tag && held.entry.size == size &&
          held.entry.page == AlignDown(page, size)) {
        return &held.entry;
      }
    }
  }
  return nullptr;
}

void ReferenceTlb::OnHit(const TlbEntry* entry) {
  const Place& place = HolderOf(entry)->place;
  PolicyOf(place).OnHit(place.way);
}

void ReferenceTlb::Drop(const TlbEntry* entry) {
  const Held* holder = HolderOf(entry);
  held_.remove_if([holder](const Held& held) { return &held == holder; });
}

ReferenceTlb::Inserted ReferenceTlb::Insert(const TlbEntry& entry) {
  Inserted result;
  if ((entry.flags & kTlbGlobal) == 0) {
    result.dropped = OnLoadContext(entry.context, entry.thread);
  }
  Place place{ShareOf(entry.thread), SetOf(entry.page, entry.size), 0};
  const bool trees = config_.replacement == TlbReplacement::kTreePlru ||
                     config_.replacement == TlbReplacement::kMru3Plru2 ||
                     config_.replacement == TlbReplacement::kMru3Plru4;
  if (trees) place.way = PolicyOf(place).Victim(rng_);
  if (At(place) != nullptr) place.way = 0;
  while (place.way < WaysOfShare() && At(place) != nullptr) ++place.way;
  if (place.way == WaysOfShare()) {
    place.way = PolicyOf(place).Victim(rng_);
    result.evicted = At(place)->entry;
    Drop(&At(place)->entry);
  }
  held_.push_back({place, entry});
  PolicyOf(place).OnFill(place.way);
  result.entry = &held_.back().entry;
  return result;
}

uint32_t ReferenceTlb::DropIf(const std::function<bool(const Held&)>& drop) {
  return static_cast<uint32_t>(held_.remove_if(drop));
}

// What translates the page, and every piece of a page that does so.
uint32_t ReferenceTlb::DropPage(const TlbContext& context, VirtPage page,
                                bool globals) {
  return DropIf([&](const Held& held) {
    const TlbEntry& entry = held.entry;
    const bool ours = entry.context == context.tag ||
                      (globals && entry.context == context.global);
    return ours && held.place.share == ShareOf(context.thread) &&
           AlignDown(page, entry.origin) == AlignDown(entry.page, entry.origin);
  });
}

uint32_t ReferenceTlb::DropWithin(ContextTag context, VirtPage first,
                                  PageSize size) {
  return DropIf([&](const Held& held) {
    const uint64_t begin = held.entry.page.value();
    const uint64_t end = begin + PagesIn(held.entry.size);
    return held.entry.context == context && begin >= first.value() &&
           end <= first.value() + PagesIn(size);
  });
}

uint32_t ReferenceTlb::DropContextsIf(
    const std::function<bool(ContextTag)>& drop) {
  return DropIf([&](const Held& held) { return drop(held.entry.context); });
}

uint32_t ReferenceTlb::OnLoadContext(ContextTag context, ThreadSlot thread) {
  if (config_.pcid_slots == TlbConfig::kNoPcidLimit) return 0;
  const bool shared =
      config_.smt == TlbSmt::kCompetitive && config_.pcid_slots > 1;
  std::list<ContextTag>& slots = pcid_slots_[shared ? 0 : thread.value()];
  slots.remove(context);
  slots.push_front(context);
  const size_t limit = config_.pcid_slots == 0 ? 1 : config_.pcid_slots;
  if (slots.size() <= limit) return 0;
  const ContextTag lost = slots.back();
  slots.pop_back();
  return DropContextsIf([lost](ContextTag tag) { return tag == lost; });
}

// Halted threads have no share, and a PCID without a slot no entries.
bool ReferenceTlb::HasRoomFor(const TlbEntry& entry) const {
  const uint32_t thread = entry.thread.value();
  if (config_.smt == TlbSmt::kPartitioned &&
      (active_mask_ & (1u << thread)) == 0) {
    return false;
  }
  if (config_.pcid_slots == TlbConfig::kNoPcidLimit) return true;
  if ((entry.flags & kTlbGlobal) != 0) return true;
  const bool shared =
      config_.smt == TlbSmt::kCompetitive && config_.pcid_slots > 1;
  for (ContextTag context : pcid_slots_[shared ? 0 : thread]) {
    if (context == entry.context) return true;
  }
  return false;
}

uint32_t ReferenceTlb::SetActiveThreads(uint32_t mask) {
  if (config_.smt != TlbSmt::kPartitioned || mask == 0 ||
      mask == active_mask_) {
    return 0;
  }
  const auto dropped = static_cast<uint32_t>(held_.size());
  active_mask_ = mask;
  Empty();
  return dropped;
}

std::vector<TlbEntry> ReferenceTlb::Entries() const {
  std::vector<TlbEntry> entries;
  for (const Held& held : held_) entries.push_back(held.entry);
  return entries;
}

}  // namespace lookaside
