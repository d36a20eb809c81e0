// SPDX-License-Identifier: Apache-2.0
//
// What an operation has unhooked and not yet freed (Linux struct mmu_gather,
// mm/mmu_gather.c): unhook, invalidate, free, in that order. The gather alone
// owns the frames and tables until then: it lives in the kernel's table, an
// operation names it by its index, and it is emptied by the flush alone.
//
// Capacity is Linux's: a bundle of 8 pages, then at most 19 batches of 510;
// page tables ride along and take a place each. When it is full, the
// operation flushes and goes on.
//
// A value: comparable, hashable.
#ifndef LOOKASIDE_KERNEL_MMU_GATHER_H_
#define LOOKASIDE_KERNEL_MMU_GATHER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/cpu_set.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/pagetable/page_table.h"

namespace lookaside {

class MmuGather {
 public:
  static constexpr size_t kBundle = 8;        // MMU_GATHER_BUNDLE
  static constexpr size_t kBatch = 510;       // (4096 - 16) / 8
  static constexpr size_t kMostBatches = 19;  // 10000 / 510
  static constexpr size_t kCapacity = kBundle + kMostBatches * kBatch;

  // Of the pages [first, end), or of all of `mm`.
  MmuGather(MmId mm, VirtPage first, VirtPage end, bool fullmm)
      : mm_(mm), asked_first_(first), asked_end_(end), fullmm_(fullmm) {}

  MmId mm() const { return mm_; }
  bool fullmm() const { return fullmm_; }
  bool full() const { return pages_.size() + tables_.size() >= kCapacity; }
  // Whether anything was cleared since the last flush.
  bool need_flush() const { return need_flush_; }
  bool freed_tables() const { return freed_tables_; }
  bool hugetlb() const { return hugetlb_; }

  // An entry was cleared or weakened that mapped the page of `size`, and that
  // only `holder` may have; nobody named: any CPU.
  void Cleared(VirtPage page, PageSize size, std::optional<CpuId> holder) {
    if (holder) {
      holders_.Add(*holder);
    } else {
      anyone_ = true;
    }
    need_flush_ = true;
    first_ = std::min(first_, page);
    end_ = std::max(end_, VirtPage(page.value() + PagesIn(size)));
    smallest_ = std::min(smallest_, size);
  }
  // Takes over the reference that a cleared mapping held.
  void AddPage(FrameNumber frame) { pages_.push_back(frame); }
  // A table that was unhooked: one INVLPG within the range drops it from the
  // paging-structure caches.
  void AddTable(const UnhookedTable& table) {
    const VirtPage page = std::max(table.page, asked_first_);
    freed_tables_ = need_flush_ = anyone_ = true;
    first_ = std::min(first_, page);
    end_ = std::max(end_, VirtPage(page.value() + 1));
    smallest_ = std::min(smallest_, PageSize::k2M);
    tables_.push_back(table);
  }
  void set_hugetlb() { hugetlb_ = true; }
  // Others may flush later, as long as no table goes (FlushRequest).
  void set_may_defer() { may_defer_ = true; }
  bool may_defer() const { return may_defer_ && !fullmm_ && !freed_tables_; }
  // Another gather is at work on the same entries: flush everything.
  void FlushAll() { fullmm_ = freed_tables_ = need_flush_ = anyone_ = true; }

  // Who may have what was cleared; nothing: anyone.
  std::optional<CpuSet> holders() const {
    if (anyone_ || fullmm_) return std::nullopt;
    return holders_;
  }

  // What to flush: what was cleared, or what was asked for.
  VirtPage first(bool tracked) const { return tracked ? first_ : asked_first_; }
  VirtPage end(bool tracked) const { return tracked ? end_ : asked_end_; }
  // The smallest page among the entries cleared.
  PageSize smallest() const { return smallest_; }

  // Gives up what the flush allows to free.
  std::vector<FrameNumber> TakePages() { return std::move(pages_); }
  std::vector<UnhookedTable> TakeTables() { return std::move(tables_); }
  // After a flush: what it holds may be freed.
  void Reset() {
    need_flush_ = freed_tables_ = anyone_ = false;
    holders_.Clear();
    first_ = VirtPage(~uint64_t{0});
    end_ = VirtPage(0);
    smallest_ = PageSize::k1G;
  }
  const std::vector<FrameNumber>& pages() const { return pages_; }
  const std::vector<UnhookedTable>& tables() const { return tables_; }

  void AddTo(Digest& digest) const {
    digest.Add(mm_);
    digest.Add(asked_first_);
    digest.Add(asked_end_);
    digest.Add(fullmm_);
    digest.Add(need_flush_);
    digest.Add(freed_tables_);
    digest.Add(hugetlb_);
    digest.Add(may_defer_);
    digest.Add(anyone_);
    holders_.AddTo(digest);
    digest.Add(first_);
    digest.Add(end_);
    digest.Add(smallest_);
    digest.Add(pages_.size());
    for (const FrameNumber page : pages_) digest.Add(page);
    digest.Add(tables_.size());
    for (const UnhookedTable& table : tables_) digest.Add(table.frame);
  }
  friend bool operator==(const MmuGather&, const MmuGather&) = default;

 private:
  MmId mm_;
  VirtPage asked_first_;
  VirtPage asked_end_;
  bool fullmm_;
  bool need_flush_ = false;
  bool freed_tables_ = false;
  bool hugetlb_ = false;
  bool may_defer_ = false;
  bool anyone_ = false;  // may have some of it
  CpuSet holders_;
  VirtPage first_{~uint64_t{0}};
  VirtPage end_{0};
  PageSize smallest_ = PageSize::k1G;
  std::vector<FrameNumber> pages_;  // a reference each
  std::vector<UnhookedTable> tables_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_MMU_GATHER_H_
