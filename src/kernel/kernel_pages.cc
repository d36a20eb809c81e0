// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/kernel_pages.h"

#include <cstdint>

#include "lookaside/base/status.h"
#include "lookaside/pagetable/pte.h"

namespace lookaside {
namespace {

constexpr VirtAddr kDirectMap(0xffff'8880'0000'0000);  // page_offset_base
// Above all memory of programs: these frames are not the allocator's.
constexpr uint64_t kFirstFrame = uint64_t{1} << 39;

PageSize SizeOf(const KernelRules& rules) {
  return rules.footprint_2m ? PageSize::k2M : PageSize::k4K;
}

}  // namespace

VirtPage KernelPage(const KernelRules& rules, uint32_t number) {
  return VirtPage(PageOf(kDirectMap).value() + number * PagesIn(SizeOf(rules)));
}

absl::Status MapKernelPages(const KernelRules& rules, PhysicalMemory& memory,
                            const PageTable& table, NodeId node) {
  const PageSize size = SizeOf(rules);
  for (uint32_t i = 0; i < rules.footprint; ++i) {
    const Pte leaf = Pte::Leaf(FrameNumber(kFirstFrame + i * PagesIn(size)),
                               size, {.writable = true, .nx = true})
                         .WithGlobal(!rules.kpti)
                         .WithAccessed(true)
                         .WithDirty(true);
    LOOKASIDE_RETURN_IF_ERROR(
        table.Map(memory, KernelPage(rules, i), size, leaf, node));
  }
  return absl::OkStatus();
}

}  // namespace lookaside
