// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/paging_structure_caches.h"

#include <algorithm>
#include <bit>

#include "lookaside/base/check.h"

namespace lookaside {

PagingStructureCaches::Array::Array(uint32_t size, uint32_t associativity) {
  if (size == 0) return;
  ways_ = associativity == 0 ? size : associativity;
  LOOKASIDE_CHECK(size % ways_ == 0);
  const uint32_t sets = size / ways_;
  LOOKASIDE_CHECK((sets & (sets - 1)) == 0);
  set_mask_ = sets - 1;
  set_shift_ = static_cast<uint32_t>(std::countr_zero(std::bit_ceil(ways_)));
  const size_t slots = size_t{sets} << set_shift_;
  tags_.resize(slots + kTagBlock);
  keys_.resize(slots);
  entries_.resize(slots);
  sources_.resize(slots);
  recency_ = Recency(sets, ways_);
}

size_t PagingStructureCaches::Array::used() const {
  return static_cast<size_t>(
      std::count_if(keys_.begin(), keys_.end(), [](uint64_t k) { return k; }));
}

void PagingStructureCaches::Array::Fill(uint64_t key, PscBits bits) {
  if (ways_ == 0) return;
  const size_t slot = Find(key);
  if (slot == kMiss) return Insert(key, bits, 0);
  Touch(slot);
  entries_[slot] = bits;
  sources_[slot] = 0;
}

void PagingStructureCaches::Array::EraseSlot(size_t slot) {
  tags_[slot] = 0;
  keys_[slot] = 0;
  entries_[slot] = 0;
  recency_.Retire(static_cast<uint32_t>(slot >> set_shift_), WayOf(slot));
}

bool PagingStructureCaches::Array::Erase(uint64_t key) {
  const size_t slot = Find(key);
  if (slot == kMiss) return false;
  EraseSlot(slot);
  return true;
}

size_t PagingStructureCaches::Array::EraseIf(
    absl::FunctionRef<bool(ContextTag)> drop) {
  size_t erased = 0;
  for (size_t slot = 0; slot < keys_.size(); ++slot) {
    if (keys_[slot] == 0) continue;
    if (!drop(ContextTag(static_cast<uint16_t>(keys_[slot])))) continue;
    EraseSlot(slot);
    ++erased;
  }
  return erased;
}

std::vector<size_t> PagingStructureCaches::Array::YoungestFirst(
    uint32_t set) const {
  std::vector<size_t> slots;
  for (const uint32_t way : recency_.OldestFirst(set)) {
    slots.push_back((size_t{set} << set_shift_) + way);
  }
  std::reverse(slots.begin(), slots.end());
  return slots;
}

void PagingStructureCaches::Array::AddTo(Digest& digest,
                                         const ContextTable& contexts) const {
  digest.Add(ways_);
  digest.Add(ways_ == 0 ? 0 : size_t{set_mask_ + 1} * ways_);
  if (ways_ == 0) return;
  for (uint32_t set = 0; set <= set_mask_; ++set) {
    for (const size_t slot : YoungestFirst(set)) {
      const uint64_t key = keys_[slot];
      digest.Add(key != 0);
      if (key == 0) continue;
      digest.Add(key >> kContextTagBits);
      contexts.AddTo(digest, ContextTag(static_cast<uint16_t>(key)));
      const PscEntry entry = EntryOf(entries_[slot]);
      digest.Add(entry.table);
      digest.Add(entry.writable);
      digest.Add(entry.user);
      digest.Add(entry.nx);
    }
  }
}

// In which place an entry lies is of no consequence.
bool PagingStructureCaches::Array::operator==(const Array& other) const {
  if (ways_ != other.ways_ || set_mask_ != other.set_mask_) return false;
  if (ways_ == 0) return true;
  const auto same = [&](size_t mine, size_t its) {
    return keys_[mine] == other.keys_[its] &&
           entries_[mine] == other.entries_[its];
  };
  for (uint32_t set = 0; set <= set_mask_; ++set) {
    const std::vector<size_t> slots = YoungestFirst(set);
    const std::vector<size_t> others = other.YoungestFirst(set);
    if (!std::equal(slots.begin(), slots.end(), others.begin(), same)) {
      return false;
    }
  }
  return true;
}

PagingStructureCaches::PagingStructureCaches(const PscConfig& config)
    : invlpg_scope_(config.invlpg_scope),
      arrays_{Array(config.pde, config.pde_ways), Array(config.pdpte, 0),
              Array(config.pml4e, 0), Array(config.pml5e, 0)} {}

bool PagingStructureCaches::Contains(ContextTag tag, VirtPage page,
                                     PagingLevel level) const {
  LOOKASIDE_DCHECK(level != PagingLevel::kPte);
  return at(level).Find(Key(tag, page, level)) != Array::kMiss;
}

PagingLevel PagingStructureCaches::FindAbove(ContextTag tag, VirtPage page,
                                             PscBits& bits) {
  for (PagingLevel level : {PagingLevel::kPml4e, PagingLevel::kPml5e}) {
    if (FindAt(tag, page, level, bits)) return level;
  }
  return PagingLevel::kPte;
}

void PagingStructureCaches::Fill(ContextTag tag, VirtPage page,
                                 PagingLevel level, const PscEntry& entry) {
  LOOKASIDE_DCHECK(level != PagingLevel::kPte);
  LOOKASIDE_DCHECK(tag != ContextTag());
  at(level).Fill(Key(tag, page, level), BitsOf(entry));
}

size_t PagingStructureCaches::Invlpg(ContextTag tag, VirtPage page) {
  return invlpg_scope_ == InvlpgScope::kPcid ? InvalidateTag(tag)
                                             : InvalidateAddress(tag, page);
}

size_t PagingStructureCaches::InvalidateAddress(ContextTag tag, VirtPage page) {
  size_t erased = 0;
  for (PagingLevel level : {PagingLevel::kPde, PagingLevel::kPdpte,
                            PagingLevel::kPml4e, PagingLevel::kPml5e}) {
    if (at(level).Erase(Key(tag, page, level))) ++erased;
  }
  return erased;
}

size_t PagingStructureCaches::InvalidateTag(ContextTag tag) {
  return InvalidateIf([tag](ContextTag other) { return other == tag; });
}

size_t PagingStructureCaches::InvalidateIf(
    absl::FunctionRef<bool(ContextTag)> drop) {
  size_t erased = 0;
  for (Array& array : arrays_) erased += array.EraseIf(drop);
  return erased;
}

size_t PagingStructureCaches::InvalidateAll() {
  return InvalidateIf([](ContextTag) { return true; });
}

uint32_t PagingStructureCaches::SourceAt(ContextTag tag, VirtPage page,
                                         PagingLevel level) const {
  const size_t slot = at(level).Find(Key(tag, page, level));
  LOOKASIDE_CHECK(slot != Array::kMiss);
  return at(level).source(slot);
}

void PagingStructureCaches::Array::ForEach(
    absl::FunctionRef<void(uint64_t key, PscBits& bits, uint32_t& source)>
        visit) {
  for (size_t slot = 0; slot < keys_.size(); ++slot) {
    if (keys_[slot] != 0) visit(keys_[slot], entries_[slot], sources_[slot]);
  }
}

void PagingStructureCaches::ForEachWithin(VirtPage first, unsigned order,
                                          PagingLevel level, Visit visit) {
  const unsigned shared = std::max(order, SpanOrder(level));
  at(level).ForEach([&](uint64_t key, PscBits& bits, uint32_t& source) {
    const uint64_t page = key >> kContextTagBits << SpanOrder(level);
    if (((page ^ first.value()) >> shared) != 0) return;
    visit(ContextTag(static_cast<uint16_t>(key)), bits, source);
  });
}

size_t PagingStructureCaches::size(PagingLevel level) const {
  LOOKASIDE_DCHECK(level != PagingLevel::kPte);
  return at(level).used();
}

void PagingStructureCaches::AddTo(Digest& digest,
                                  const ContextTable& contexts) const {
  digest.Add(invlpg_scope_);
  for (const Array& array : arrays_) array.AddTo(digest, contexts);
}

}  // namespace lookaside
