// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/vma_set.h"

#include <algorithm>
#include <iterator>

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

bool CanMerge(const Vma& a, const Vma& b) {
  return a.end == b.start && a.attributes == b.attributes &&
         (!a.attributes.shared() || a.OffsetOf(a.end) == b.offset);
}

}  // namespace

// The mapping that holds `page`, or the first behind it.
VmaSet::ByStart::const_iterator VmaSet::Holding(VirtPage page) const {
  auto it = vmas_.upper_bound(page);
  if (it == vmas_.begin()) return it;
  const auto before = std::prev(it);
  return before->second.end > page ? before : it;
}

const Vma* VmaSet::Find(VirtPage page) const {
  const auto it = Holding(page);
  if (it == vmas_.end() || it->second.start > page) return nullptr;
  return &it->second;
}

std::vector<Vma> VmaSet::Within(VirtPage first, VirtPage end) const {
  std::vector<Vma> parts;
  for (auto it = Holding(first); it != vmas_.end() && it->second.start < end;
       ++it) {
    parts.push_back(it->second.Clip(first, end));
  }
  return parts;
}

bool VmaSet::Covers(VirtPage first, VirtPage end) const {
  for (auto it = Holding(first); first < end; ++it) {
    if (it == vmas_.end() || it->second.start > first) return false;
    first = it->second.end;
  }
  return true;
}

bool VmaSet::Overlaps(VirtPage first, VirtPage end) const {
  const auto it = Holding(first);
  return it != vmas_.end() && it->second.start < end;
}

void VmaSet::Map(const Vma& vma) {
  LOOKASIDE_CHECK(vma.start < vma.end);
  LOOKASIDE_CHECK(!Overlaps(vma.start, vma.end));
  vmas_.emplace(vma.start, vma);
  total_vm_ += vma.pages();
  MergeAt(vma.end);
  MergeAt(vma.start);
}

std::vector<Vma> VmaSet::Unmap(VirtPage first, VirtPage end) {
  SplitAt(first);
  SplitAt(end);
  std::vector<Vma> removed;
  auto it = vmas_.lower_bound(first);
  while (it != vmas_.end() && it->second.start < end) {
    removed.push_back(it->second);
    total_vm_ -= it->second.pages();
    it = vmas_.erase(it);
  }
  return removed;
}

std::vector<Vma> VmaSet::Change(
    VirtPage first, VirtPage end,
    absl::FunctionRef<void(VmaAttributes&)> change) {
  SplitAt(first);
  SplitAt(end);
  std::vector<Vma> before;
  for (auto it = vmas_.lower_bound(first);
       it != vmas_.end() && it->second.start < end; ++it) {
    before.push_back(it->second);
    change(it->second.attributes);
  }
  for (const Vma& part : before) MergeAt(part.start);
  MergeAt(end);
  return before;
}

void VmaSet::SplitAt(VirtPage page) {
  const auto it = vmas_.upper_bound(page);
  if (it == vmas_.begin()) return;
  Vma& whole = std::prev(it)->second;
  if (whole.start == page || whole.end <= page) return;
  const Vma behind = whole.Clip(page, whole.end);
  whole.end = page;
  vmas_.emplace_hint(it, page, behind);
}

void VmaSet::MergeAt(VirtPage page) {
  const auto it = vmas_.find(page);
  if (it == vmas_.end() || it == vmas_.begin()) return;
  const auto before = std::prev(it);
  if (!CanMerge(before->second, it->second)) return;
  before->second.end = it->second.end;
  vmas_.erase(it);
}

std::optional<VirtPage> VmaSet::FindGapBelow(VirtPage limit, uint64_t pages,
                                             uint64_t align) const {
  uint64_t top = limit.value();
  auto it = vmas_.lower_bound(limit);
  for (;;) {
    const Vma* const below =
        it == vmas_.begin() ? nullptr : &std::prev(it)->second;
    const uint64_t bottom = below ? below->end.value() : 1;  // page 0 is none
    if (top >= pages) {
      const uint64_t start = (top - pages) / align * align;
      if (start >= bottom) return VirtPage(start);
    }
    if (below == nullptr) return std::nullopt;
    top = std::min(top, below->start.value());
    --it;
  }
}

std::optional<VirtPage> VmaSet::FloorOf(VirtPage page) const {
  const auto it = vmas_.lower_bound(page);
  if (it == vmas_.begin()) return std::nullopt;
  return std::prev(it)->second.end;
}

std::optional<VirtPage> VmaSet::CeilingOf(VirtPage page) const {
  const auto it = vmas_.lower_bound(page);
  if (it == vmas_.end()) return std::nullopt;
  return it->second.start;
}

std::vector<Vma> VmaSet::All() const {
  std::vector<Vma> all;
  for (const auto& [start, vma] : vmas_) all.push_back(vma);
  return all;
}

void VmaSet::AddTo(Digest& digest) const {
  digest.Add(vmas_.size());
  for (const auto& [start, vma] : vmas_) vma.AddTo(digest);
}

void VmaSet::CheckInvariants() const {
  uint64_t pages = 0;
  const Vma* before = nullptr;
  for (const auto& [start, vma] : vmas_) {
    LOOKASIDE_CHECK(start == vma.start && vma.start < vma.end);
    if (before != nullptr) {
      LOOKASIDE_CHECK(before->end <= vma.start);
      LOOKASIDE_CHECK(!CanMerge(*before, vma));
    }
    pages += vma.pages();
    before = &vma;
  }
  LOOKASIDE_CHECK(pages == total_vm_);
}

}  // namespace lookaside
