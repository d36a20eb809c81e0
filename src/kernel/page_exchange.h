// SPDX-License-Identifier: Apache-2.0
//
// What moving a page and merging it with its like share: finding an entry that
// has its page to itself, and giving it another page. For those programs.
#ifndef LOOKASIDE_KERNEL_PAGE_EXCHANGE_H_
#define LOOKASIDE_KERNEL_PAGE_EXCHANGE_H_

#include "lookaside/kernel/entries.h"
#include "lookaside/kernel/flush_steps.h"
#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/page_frames.h"
#include "lookaside/kernel/range_steps.h"

namespace lookaside {

inline EntryRef EntryOf(KernelContext& k, MmId mm, VirtPage page) {
  return FindEntry(k.tables(), k.kernel.mm(mm).table, page);
}

// A small page that nothing but this entry uses.
inline bool IsAlone(KernelContext& k, const EntryRef& entry) {
  return entry.pte.present() && entry.level == PagingLevel::kPte &&
         k.kernel.frames.UseOf(entry.pte.frame()).references == 1 &&
         k.kernel.frames.UseOf(entry.pte.frame()).size == PageSize::k4K;
}

// Puts `page` in the place of what the entry maps, which it held alone.
inline void Exchange(KernelContext& k, MmId mm, const EntryRef& entry,
                     FrameNumber page, bool writable) {
  const FrameNumber before = entry.pte.frame();
  const Pte was = IsProtNone(entry.pte) ? FromProtNone(entry.pte) : entry.pte;
  ReplaceEntry(k, mm, entry,
               was.WithFrame(page).WithWritable(writable && was.writable()));
  PutPage(k, before);
}

// Flushes the page at `part_end` everywhere.
inline StepResult FlushPart(KernelContext& k, StepFrame& frame) {
  const auto& locals = frame.As<RangeLocals>();
  return CallFlushPage(k, locals.mm, locals.part_end);
}

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_PAGE_EXCHANGE_H_
