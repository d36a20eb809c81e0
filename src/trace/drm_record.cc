// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_record.h"

#include <iterator>

#include "lookaside/base/check.h"

namespace lookaside {
namespace {

// Versions that a later program may write; it is refused by its number.
constexpr uint64_t kMostVersion = 99;

constexpr std::string_view kTypeNames[] = {
    "reads",
    "writes",
    "prefetches",
    "prefetches of reads into L1",
    "prefetches of reads into L2",
    "prefetches of reads into L3",
    "non-temporal prefetches",
    "prefetches of reads",
    "prefetches of writes",
    "prefetches of instructions",
    "instructions",
    "direct jumps",
    "indirect jumps",
    "conditional jumps",
    "direct calls",
    "indirect calls",
    "returns",
    "instruction bundles",
    "instruction-cache flushes",
    "ends of instruction-cache flushes",
    "data-cache flushes",
    "ends of data-cache flushes",
    "thread records",
    "thread-exit records",
    "pid records",
    "headers",
    "footers",
    "hardware prefetches",
    "markers",
    "instructions without a fetch",
    "instructions that may have no fetch",
    "sysenter instructions",
    "non-temporal prefetches of reads into L1",
    "non-temporal prefetches of reads into L2",
    "non-temporal prefetches of reads into L3",
    "prefetches of instructions into L1",
    "non-temporal prefetches of instructions into L1",
    "prefetches of instructions into L2",
    "non-temporal prefetches of instructions into L2",
    "prefetches of instructions into L3",
    "non-temporal prefetches of instructions into L3",
    "prefetches of writes into L1",
    "non-temporal prefetches of writes into L1",
    "prefetches of writes into L2",
    "non-temporal prefetches of writes into L2",
    "prefetches of writes into L3",
    "non-temporal prefetches of writes into L3",
    "instruction-encoding records",
    "taken jumps",
    "untaken jumps",
    "invalid records",
};
static_assert(std::size(kTypeNames) == kDrmTypes);

constexpr std::string_view kMarkerNames[] = {
    "kernel-event markers",
    "kernel-transfer markers",
    "timestamp markers",
    "cpu markers",
    "function-id markers",
    "function-return-address markers",
    "function-argument markers",
    "function-return-value markers",
    "split-value markers",
    "file-type markers",
    "cache-line-size markers",
    "instruction-count markers",
    "version markers",
    "rseq-abort markers",
    "window-id markers",
    "physical-address markers",
    "physical-address-not-available markers",
    "virtual-address markers",
    "page-size markers",
    "system-call-index markers",
    "chunk-size markers",
    "chunk footers",
    "record-ordinal markers",
    "filter-endpoint markers",
    "rseq-entry markers",
    "system-call markers",
    "maybe-blocking-system-call markers",
    "starts of system-call traces",
    "ends of system-call traces",
    "branch-target markers",
    "system-call-failed markers",
    "direct-thread-switch markers",
    "core-wait markers",
    "core-idle markers",
    "starts of context switches",
    "ends of context switches",
    "vector-length markers",
    "system-call-unschedule markers",
    "system-call-schedule markers",
    "system-call-argument-timeout markers",
    "signal-number markers",
    "uncompleted-instruction markers",
    "midblock-end markers",
    "hardware-event markers",
    "hardware-context-return markers",
    "raw kernel-event markers",
    "skipped-access markers",
};
static_assert(std::size(kMarkerNames) == kDrmMarkers);

}  // namespace

std::string_view DrmTypeName(uint16_t type) {
  LOOKASIDE_CHECK(type < kDrmTypes);
  return kTypeNames[type];
}

std::string_view DrmMarkerName(uint16_t marker) {
  LOOKASIDE_CHECK(marker < kDrmMarkers);
  return kMarkerNames[marker];
}

bool LooksLikeDrm(std::string_view head) {
  if (head.size() < kDrmRecordBytes) return false;
  const DrmRecord record = LoadDrmRecord(head.data());
  return record.type == kDrmHeader && record.size == 0 && record.value >= 1 &&
         record.value <= kMostVersion;
}

bool LooksLikeDrm32(std::string_view head) {
  // A header of version 2 to 7 and the marker of the same version.
  if (head.size() < 16 ||
      head.substr(0, 4) != std::string_view("\x19\0\0\0", 4))
    return false;
  return head.substr(4, 4) == head.substr(12, 4) &&
         head.substr(8, 4) == std::string_view("\x1c\0\x0c\0", 4);
}

}  // namespace lookaside
