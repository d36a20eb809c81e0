// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/paging_structure_caches.h"

#include <algorithm>

#include "lookaside/base/check.h"

namespace lookaside {

PagingStructureCaches::Array::Array(uint32_t size, uint32_t associativity) {
  if (size == 0) return;
  ways = associativity == 0 ? size : associativity;
  LOOKASIDE_CHECK(size % ways == 0);
  const uint32_t sets = size / ways;
  LOOKASIDE_CHECK((sets & (sets - 1)) == 0);
  set_mask = sets - 1;
  keys.resize(size);
  entries.resize(size);
}

void PagingStructureCaches::Array::MoveToFront(size_t first, uint32_t way) {
  const uint64_t key = keys[first + way];
  const PscEntry entry = entries[first + way];
  for (size_t i = first + way; i > first; --i) {
    keys[i] = keys[i - 1];
    entries[i] = entries[i - 1];
  }
  keys[first] = key;
  entries[first] = entry;
}

void PagingStructureCaches::Array::Fill(uint64_t key, const PscEntry& entry) {
  if (ways == 0) return;
  const size_t first = First(key);
  const uint32_t way = std::min(Way(first, key), ways - 1);
  MoveToFront(first, way);
  keys[first] = key;
  entries[first] = entry;
}

bool PagingStructureCaches::Array::Erase(uint64_t key) {
  const size_t first = First(key);
  const uint32_t way = Way(first, key);
  if (way == ways) return false;
  for (size_t i = first + way; i + 1 < first + ways; ++i) {
    keys[i] = keys[i + 1];
    entries[i] = entries[i + 1];
  }
  keys[first + ways - 1] = 0;
  entries[first + ways - 1] = PscEntry();
  return true;
}

size_t PagingStructureCaches::Array::EraseIf(
    absl::FunctionRef<bool(ContextTag)> drop) {
  size_t erased = 0;
  for (size_t first = 0; first < keys.size(); first += ways) {
    size_t kept = first;
    for (size_t i = first; i < first + ways && keys[i] != 0; ++i) {
      if (drop(ContextTag(static_cast<uint16_t>(keys[i])))) {
        ++erased;
        continue;
      }
      keys[kept] = keys[i];
      entries[kept++] = entries[i];
    }
    for (; kept < first + ways && keys[kept] != 0; ++kept) {
      keys[kept] = 0;
      entries[kept] = PscEntry();
    }
  }
  return erased;
}

PagingStructureCaches::PagingStructureCaches(const PscConfig& config)
    : invlpg_scope_(config.invlpg_scope),
      arrays_{Array(config.pde, config.pde_ways), Array(config.pdpte, 0),
              Array(config.pml4e, 0), Array(config.pml5e, 0)} {}

bool PagingStructureCaches::Contains(ContextTag tag, VirtPage page,
                                     PagingLevel level) const {
  LOOKASIDE_DCHECK(level != PagingLevel::kPte);
  const Array& array = at(level);
  const uint64_t key = Key(tag, page, level);
  return array.Way(array.First(key), key) < array.ways;
}

void PagingStructureCaches::Fill(ContextTag tag, VirtPage page,
                                 PagingLevel level, const PscEntry& entry) {
  LOOKASIDE_DCHECK(level != PagingLevel::kPte);
  LOOKASIDE_DCHECK(tag != ContextTag());
  at(level).Fill(Key(tag, page, level), entry);
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

size_t PagingStructureCaches::size(PagingLevel level) const {
  LOOKASIDE_DCHECK(level != PagingLevel::kPte);
  const std::vector<uint64_t>& keys = at(level).keys;
  return static_cast<size_t>(
      std::count_if(keys.begin(), keys.end(), [](uint64_t k) { return k; }));
}

void PagingStructureCaches::AddTo(Digest& digest,
                                  const ContextTable& contexts) const {
  digest.Add(invlpg_scope_);
  for (const Array& array : arrays_) {
    digest.Add(array.ways);
    digest.Add(array.keys.size());
    for (size_t i = 0; i < array.keys.size(); ++i) {
      const uint64_t key = array.keys[i];
      digest.Add(key != 0);
      if (key == 0) continue;
      digest.Add(key >> kContextTagBits);
      contexts.AddTo(digest, ContextTag(static_cast<uint16_t>(key)));
      digest.Add(array.entries[i].table);
      digest.Add(array.entries[i].writable);
      digest.Add(array.entries[i].user);
      digest.Add(array.entries[i].nx);
    }
  }
}

}  // namespace lookaside
