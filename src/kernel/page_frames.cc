// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/page_frames.h"

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/kernel/entry_holder.h"
#include "lookaside/kernel/entry_use.h"
#include "lookaside/kernel/kernel_pages.h"

namespace lookaside {

absl::StatusOr<MmId> NewMm(KernelContext& k) {
  const auto table =
      PageTable::Create(k.hardware.memory(), k.hardware.paging_levels(),
                        k.hardware.NodeOf(k.cpu));
  if (!table.ok()) return table.status();
  LOOKASIDE_RETURN_IF_ERROR(MapKernelPages(k.rules(), k.hardware.memory(),
                                           *table, k.hardware.NodeOf(k.cpu)));
  return MmId(k.kernel.mms.Add(Mm(*table, k.kernel.next_ctx_id++)));
}

absl::StatusOr<FrameNumber> AllocatePage(KernelContext& k, PageSize size) {
  return AllocatePageOn(k, size, k.hardware.NodeOf(k.cpu));
}

absl::StatusOr<FrameNumber> AllocatePageOn(KernelContext& k, PageSize size,
                                           NodeId node) {
  LOOKASIDE_ASSIGN_OR_RETURN(const FrameNumber frame,
                             k.hardware.memory().frames.Allocate(size, node));
  k.kernel.frames.Add(frame, size);
  return frame;
}

void PutPage(KernelContext& k, FrameNumber frame) {
  FrameTable& frames = k.kernel.frames;
  const FrameNumber head = frames.HeadOf(frame);
  const PageSize size = frames.UseOf(head).size;
  if (!frames.Put(head)) return;
  k.kernel.lazily_freed.erase(head);
  k.hardware.CheckFrameFree(k.cpu, head, size,
                            [&](CpuId cpu, Pcid pcid, bool on) {
                              return CanUseEntries(k.kernel, cpu, pcid, on);
                            });
  k.hardware.memory().frames.Free(head, size);
  k.Work(k.costs().page_free);
}

absl::Status EnterLeaf(KernelContext& k, MmId mm, VirtPage page, PageSize size,
                       Pte leaf) {
  LOOKASIDE_RETURN_IF_ERROR(k.kernel.mm(mm).table.Map(
      k.hardware.memory(), page, size, leaf, k.hardware.NodeOf(k.cpu)));
  k.kernel.frames.AddMapping(leaf.frame(), {mm, page});
  return absl::OkStatus();
}

void ReplaceEntry(KernelContext& k, MmId mm, const EntryRef& entry, Pte value) {
  LOOKASIDE_DCHECK(MapsFrame(entry.pte) && MapsFrame(value));
  k.hardware.WritePte(entry.address, value);
  if (entry.pte.frame() == value.frame()) return;
  k.kernel.frames.RemoveMapping(entry.pte.frame(), {mm, entry.page});
  k.kernel.frames.AddMapping(value.frame(), {mm, entry.page});
}

std::optional<FrameNumber> ClearEntry(KernelContext& k, MmId mm,
                                      const EntryRef& entry) {
  k.hardware.WritePte(entry.address, Pte());
  if (IsSwap(entry.pte)) {
    PutSwap(k, SwapSlot(entry.pte));
    return std::nullopt;
  }
  const FrameNumber frame = entry.pte.frame();
  k.kernel.frames.RemoveMapping(frame, {mm, entry.page});
  return frame;
}

void ZapEntry(KernelContext& k, MmId mm, const EntryRef& entry,
              MmuGather& gather) {
  k.Work(k.costs().pte);
  const std::optional<FrameNumber> frame = ClearEntry(k, mm, entry);
  if (!frame) return;
  gather.Cleared(entry.page, entry.size(), HolderOf(k, entry.pte));
  gather.AddPage(*frame);
}

uint64_t NewSwapSlot(KernelContext& k) {
  const auto& swapped = k.kernel.swapped;
  const uint64_t slot = swapped.empty() ? 1 : swapped.rbegin()->first + 1;
  k.kernel.swapped.emplace(slot, 1);
  return slot;
}

void GetSwap(KernelContext& k, uint64_t slot) { ++k.kernel.swapped.at(slot); }

void PutSwap(KernelContext& k, uint64_t slot) {
  const auto found = k.kernel.swapped.find(slot);
  LOOKASIDE_CHECK(found != k.kernel.swapped.end());
  if (--found->second == 0) k.kernel.swapped.erase(found);
}

void GetObject(KernelContext& k, const Vma& vma) {
  if (!vma.attributes.shared()) return;
  k.kernel.objects[vma.attributes.object.value() - 1].references += vma.pages();
}

void PutObject(KernelContext& k, const Vma& vma) {
  if (!vma.attributes.shared()) return;
  const uint32_t slot = vma.attributes.object.value() - 1;
  SharedObject& object = k.kernel.objects[slot];
  object.references -= vma.pages();
  if (object.references != 0) return;
  const std::map<uint64_t, FrameNumber> pages = std::move(object.pages);
  k.kernel.objects.Remove(slot);
  for (const auto& [offset, frame] : pages) PutPage(k, frame);
}

}  // namespace lookaside
