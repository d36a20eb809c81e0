// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/context_table.h"

#include "lookaside/base/check.h"

namespace lookaside {

ContextTag ContextTable::Intern(const AddressSpaceTag& space) {
  const auto next = static_cast<uint16_t>(tags_.size());
  const auto [entry, inserted] = numbers_.try_emplace(space, next);
  if (inserted) {
    LOOKASIDE_CHECK(tags_.size() < (size_t{1} << kContextTagBits));
    tags_.push_back(space);
  }
  return ContextTag(entry->second);
}

void ContextTable::AddTo(Digest& digest, ContextTag tag) const {
  const AddressSpaceTag& space = Resolve(tag);
  digest.Add(space.vpid);
  digest.Add(space.pcid);
  digest.Add(space.thread);
  digest.Add(space.global);
}

}  // namespace lookaside
