// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/frame_table.h"

#include <algorithm>

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

uint64_t AlignedTo2M(FrameNumber frame) {
  return frame.value() & ~(PagesIn(PageSize::k2M) - 1);
}

}  // namespace

void FrameTable::Add(FrameNumber frame, PageSize size) {
  const bool added =
      uses_.emplace(frame.value(), Use{size, 1, Mappings()}).second;
  LOOKASIDE_CHECK(added);
}

FrameNumber FrameTable::HeadOf(FrameNumber frame) const {
  if (uses_.contains(frame.value())) return frame;
  const FrameNumber head(AlignedTo2M(frame));
  const auto found = uses_.find(head.value());
  LOOKASIDE_CHECK(found != uses_.end() && found->second.size == PageSize::k2M);
  return head;
}

bool FrameTable::InUse(FrameNumber frame) const {
  if (uses_.contains(frame.value())) return true;
  const auto found = uses_.find(AlignedTo2M(frame));
  return found != uses_.end() && found->second.size == PageSize::k2M;
}

const FrameTable::Use& FrameTable::UseOf(FrameNumber frame) const {
  return uses_.at(HeadOf(frame).value());
}

FrameTable::Use& FrameTable::Mutable(FrameNumber frame) {
  return uses_.at(HeadOf(frame).value());
}

void FrameTable::Get(FrameNumber frame) { ++Mutable(frame).references; }

bool FrameTable::Put(FrameNumber frame) {
  const auto found = uses_.find(HeadOf(frame).value());
  Use& use = found->second;
  LOOKASIDE_CHECK(use.references > use.mappings.size());
  if (--use.references != 0) return false;
  uses_.erase(found);
  return true;
}

void FrameTable::AddMapping(FrameNumber frame, const FrameMapping& mapping) {
  Use& use = Mutable(frame);
  ++use.references;
  const auto place = std::ranges::lower_bound(use.mappings, mapping);
  LOOKASIDE_DCHECK(place == use.mappings.end() || *place != mapping);
  use.mappings.insert(place, mapping);
}

void FrameTable::RemoveMapping(FrameNumber frame, const FrameMapping& mapping) {
  Use& use = Mutable(frame);
  const auto place = std::ranges::lower_bound(use.mappings, mapping);
  LOOKASIDE_CHECK(place != use.mappings.end() && *place == mapping);
  use.mappings.erase(place);
}

std::vector<FrameNumber> FrameTable::All() const {
  std::vector<FrameNumber> all;
  all.reserve(uses_.size());
  for (const auto& [frame, use] : uses_) all.emplace_back(frame);
  std::ranges::sort(all);
  return all;
}

void FrameTable::AddTo(Digest& digest) const {
  for (const FrameNumber frame : All()) {
    const Use& use = uses_.at(frame.value());
    digest.Add(frame);
    digest.Add(use.size);
    digest.Add(use.references);
    digest.Add(use.mappings.size());
    for (const FrameMapping& mapping : use.mappings) {
      digest.Add(mapping.mm);
      digest.Add(mapping.page);
    }
  }
}

}  // namespace lookaside
