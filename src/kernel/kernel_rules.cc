// SPDX-License-Identifier: Apache-2.0
#include "lookaside/kernel/kernel_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

FlushPolicyKind PolicyOf(const KernelConfig& config) {
  if (config.flush_policy != FlushPolicyKind::kAuto) return config.flush_policy;
  switch (config.version) {
    case KernelVersion::kLinux3_4:
      return FlushPolicyKind::kAlwaysFull;
    case KernelVersion::kLinux3_6:
      return FlushPolicyKind::kShift;
    default:
      return FlushPolicyKind::kCeiling;
  }
}

// Linux 4.14 keeps an address space lazily only without PCIDs: with them
// leaving it is cheap (b956575bed91).
LazyMode LazyOf(const KernelConfig& config, bool pcid) {
  if (config.lazy != LazyMode::kAuto) return config.lazy;
  if (config.version < KernelVersion::kLinux4_14) return LazyMode::kIpi;
  if (config.version > KernelVersion::kLinux4_14) return LazyMode::kSkip;
  return pcid ? LazyMode::kOff : LazyMode::kIpi;
}

uint32_t EntriesOn(const TlbHierarchyConfig& tlb, uint32_t level,
                   TlbSide side) {
  uint32_t entries = 0;
  for (const TlbConfig& array : tlb.arrays) {
    const bool serves = array.side == side || array.side == TlbSide::kUnified;
    if (array.level == level && serves && array.pages.Has(PageSize::k4K)) {
      entries += array.entries;
    }
  }
  return entries;
}

uint32_t LastLevelOf(const TlbHierarchyConfig& tlb, TlbSide side) {
  const uint32_t second = EntriesOn(tlb, 2, side);
  return second != 0 ? second : EntriesOn(tlb, 1, side);
}

bool CanBroadcast(const KernelConfig& config, const TopologyConfig& machine) {
  return config.version >= KernelVersion::kLinux6_15 && config.pcid &&
         machine.features.pcid && machine.features.invlpgb;
}

absl::Status ValidateBroadcast(const KernelConfig& config,
                               const TopologyConfig& machine) {
  if (CanBroadcast(config, machine)) return absl::OkStatus();
  const bool old = config.version < KernelVersion::kLinux6_15;
  return InvalidArgument(
      "kernel.remote_flush = \"invlpgb\": {}",
      old ? fmt::format(
                "{} does not know it; linux_6.15 is the first that does",
                Name(config.version))
      : !machine.features.invlpgb
          ? std::string("machine.features has no invlpgb; zen3 and zen4 have")
          : std::string("it names PCIDs, which kernel.pcid or "
                        "machine.features leave out"));
}

// CPUID 80000008h, EDX, of Zen 3 and 4: 4096 PCIDs in 4095 ASIDs.
uint16_t GlobalAsidsOf(const KernelConfig& config) {
  constexpr uint32_t kDynamic = 6;
  const uint32_t all = (config.kpti ? 2046u : 4094u) - kDynamic;
  return static_cast<uint16_t>(
      std::min(config.global_asids.value_or(all), all));
}

}  // namespace

// Linux 3.6, arch/x86/kernel/cpu/intel.c, intel_tlb_flushall_shift_set; other
// vendors have the default.
int FlushAllShift(uint32_t model) {
  constexpr uint32_t kNever[] = {0x60f, 0x616, 0x617, 0x61d};  // Core 2
  if (std::ranges::find(kNever, model) != std::end(kNever)) return -1;
  if (model == 0x62a || model == 0x62d) return 5;  // Sandy Bridge
  if (model == 0x63a) return 1;                    // Ivy Bridge
  return 6;
}

LastLevelEntries LastLevelOf(const TlbHierarchyConfig& tlb) {
  return {LastLevelOf(tlb, TlbSide::kData), LastLevelOf(tlb, TlbSide::kInst)};
}

KernelRules KernelRules::From(const KernelConfig& config,
                              const TopologyConfig& machine,
                              const TlbHierarchyConfig& tlb) {
  using enum KernelVersion;
  constexpr uint32_t kCeiling = 33;       // 3.17, tlb_single_page_flush_ceiling
  constexpr uint32_t kFlushVectors = 32;  // 3.4, NUM_INVALIDATE_TLB_VECTORS
  const KernelVersion version = config.version;
  KernelRules rules;
  rules.version = version;
  rules.policy = PolicyOf(config);
  rules.ceiling = config.flush_ceiling.value_or(kCeiling);
  rules.shift = config.flush_shift ? static_cast<int>(*config.flush_shift)
                                   : FlushAllShift(machine.model);
  rules.entries = LastLevelOf(tlb);
  rules.pcid = config.pcid && machine.features.pcid && version >= kLinux4_14;
  rules.invpcid = rules.pcid && machine.features.invpcid;
  rules.kpti = config.kpti;
  rules.flush_in_context = config.flush_in_context && rules.kpti && rules.pcid;
  rules.lazy = LazyOf(config, rules.pcid);
  rules.footprint = config.footprint;
  rules.footprint_2m = config.footprint_2m;
  rules.broadcast = config.remote_flush != RemoteFlushKind::kIpi &&
                    CanBroadcast(config, machine);
  rules.global_asids = GlobalAsidsOf(config);
  rules.generations = version >= kLinux4_14;
  rules.concurrent = version >= kLinux5_13;
  rules.trims_cpumask = version >= kLinux6_15;
  rules.flush_vectors = version == kLinux3_4 ? kFlushVectors : 0;
  rules.gather_tracks_range = version >= kLinux4_14;
  rules.mprotect_skips_widening = version >= kLinux6_15;
  rules.flushes_only_changes = version >= kLinux3_17;
  rules.tracks_holders = rules.policy == FlushPolicyKind::kAbis;
  rules.tick = CyclesFromNs(uint64_t{config.tick_us} * 1000, machine.mhz);
  rules.unfixed = config.unfixed;
  return rules;
}

absl::Status Validate(const KernelConfig& config,
                      const TopologyConfig& machine) {
  if (config.remote_flush == RemoteFlushKind::kInvlpgb) {
    LOOKASIDE_RETURN_IF_ERROR(ValidateBroadcast(config, machine));
  }
  const std::string_view version = Name(config.version);
  if (config.kpti && config.version < KernelVersion::kLinux4_14) {
    return InvalidArgument(
        "kernel.kpti = true: {} has no page-table isolation; linux_4.14 is the "
        "first that has",
        version);
  }
  if (config.lazy == LazyMode::kSkip &&
      config.version < KernelVersion::kLinux4_14) {
    return InvalidArgument(
        "kernel.lazy = \"skip\": {} has no generations to catch up by; "
        "linux_4.14 is the first that has",
        version);
  }
  return absl::OkStatus();
}

}  // namespace lookaside
