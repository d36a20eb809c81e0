// SPDX-License-Identifier: Apache-2.0
//
// Frames of programs, as parts of steps: allocating, mapping, unmapping and
// giving back, so that the allocator, the table of uses and the entries always
// agree.
#ifndef LOOKASIDE_KERNEL_PAGE_FRAMES_H_
#define LOOKASIDE_KERNEL_PAGE_FRAMES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/address.h"
#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/mmu_gather.h"

namespace lookaside {

// An address space without pages; ResourceExhausted if there is no memory.
absl::StatusOr<MmId> NewMm(KernelContext& k);

// A page with one reference, the caller's, from the CPU's memory node.
absl::StatusOr<FrameNumber> AllocatePage(KernelContext& k, PageSize size);
absl::StatusOr<FrameNumber> AllocatePageOn(KernelContext& k, PageSize size,
                                           NodeId node);

// Drops a reference of the caller's; the last one gives the page back.
void PutPage(KernelContext& k, FrameNumber frame);

// Enters a leaf, and the reverse mapping with a reference of its own.
// AlreadyExists, and nothing changed, if something is mapped there.
absl::Status EnterLeaf(KernelContext& k, MmId mm, VirtPage page, PageSize size,
                       Pte leaf);

// Replaces an entry of `mm`; both map frames or neither does. Reverse
// mappings follow.
void ReplaceEntry(KernelContext& k, MmId mm, const EntryRef& entry, Pte value);

// Clears an entry that is not zero. What it mapped, or nothing if it was in
// swap space; the mapping's reference is the caller's then.
std::optional<FrameNumber> ClearEntry(KernelContext& k, MmId mm,
                                      const EntryRef& entry);

// The same into a gather.
void ZapEntry(KernelContext& k, MmId mm, const EntryRef& entry,
              MmuGather& gather);

// A swap slot with one entry; GetSwap and PutSwap count entries.
uint64_t NewSwapSlot(KernelContext& k);
void GetSwap(KernelContext& k, uint64_t slot);
void PutSwap(KernelContext& k, uint64_t slot);

// Mappings of a shared object came or went; without any it is gone.
void GetObject(KernelContext& k, const Vma& vma);
void PutObject(KernelContext& k, const Vma& vma);

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_PAGE_FRAMES_H_
