// SPDX-License-Identifier: Apache-2.0
//
// Which kernel runs: keys `kernel.*`. The version picks the programs and their
// defaults; what is given here beside it takes the place of a default. What
// follows from both, on a given machine, is KernelRules.
#ifndef LOOKASIDE_KERNEL_KERNEL_CONFIG_H_
#define LOOKASIDE_KERNEL_KERNEL_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lookaside {

// In the order of their appearance: later ones compare greater.
enum class KernelVersion : uint8_t {
  kLinux3_4,   // full flushes; 32 interrupt vectors for them
  kLinux3_6,   // Alex Shi: single pages below active entries >> shift
  kLinux3_17,  // Dave Hansen: single pages up to a ceiling of 33
  kLinux4_14,  // Andy Lutomirski: PCIDs, generations
  kLinux5_13,  // Nadav Amit: local and remote parts at once; lazy ones spared
  kLinux6_15,  // Rik van Riel: lazily trimmed cpumask
};
inline constexpr std::string_view kKernelVersionNames[] = {
    "linux_3.4",  "linux_3.6",  "linux_3.17",
    "linux_4.14", "linux_5.13", "linux_6.15"};
constexpr std::string_view Name(KernelVersion version) {
  return kKernelVersionNames[static_cast<size_t>(version)];
}

enum class FlushPolicyKind : uint8_t {
  kAuto,  // the version's
  kAlwaysFull,
  kShift,
  kCeiling,
  kNeverFull,
  kEarlyAck,  // the ceiling, acknowledged before the flush where that is safe
  kAbis,      // the ceiling, to those alone that accessed bits say may have it
  kLatr,      // the ceiling here; others at their next tick or context switch
  // No kernel: never full, and charged the cheaper of the pages and one write
  // of CR3. What any policy's cost can be read as a distance from.
  kBound,
  // No kernel: full where that is cheaper, given what each CPU will use again
  // (flush_prices.h).
  kClairvoyant,
};

// What a hardware thread does with the address space of the program that it
// leaves for the idle loop or a kernel thread.
enum class LazyMode : uint8_t {
  kAuto,  // the version's
  kOff,   // leaves it at once
  kIpi,   // keeps it; the first flush that reaches it makes it leave
  kSkip,  // keeps it; flushes spare it unless tables are freed, and it
          // catches up by generation
};

// How a flush reaches other CPUs.
enum class RemoteFlushKind : uint8_t {
  kAuto,     // INVLPGB where version and processor have it
  kIpi,      // interrupts
  kInvlpgb,  // broadcast to global ASIDs; interrupts for other programs
};

// Fixes of races that kernels shipped with (and of rules that matter as much),
// each a named step change that is on unless taken out.
enum class KernelFix : uint8_t {
  kMremapFlushUnderLock,   // eb66ae030829
  kBatchedFlushPending,    // 3ea277194daa
  kNestedGather,           // 99baac21e458
  kSwitchBarrier,          // 71b3c126e611
  kSwitchingSentinel,      // fea4e317f9e7
  kLazyFreedTables,        // b956575bed91
  kInvalidateBeforeTable,  // d86564a2f085
  kNoGap,                  // partial flush only if F = L + 1
  kNoOverclaim,            // partial flush only if F = M
  kFlushRecycledAsid,      // a recycled ASID is flushed
  kUserPcid,               // the user half's PCID is flushed too
  kRolloverFlush,          // global ASIDs come back after a flush of all
};
inline constexpr size_t kKernelFixes = 12;
inline constexpr std::string_view kKernelFixNames[kKernelFixes] = {
    "eb66ae030829", "3ea277194daa", "99baac21e458",    "71b3c126e611",
    "fea4e317f9e7", "b956575bed91", "d86564a2f085",    "no_gap",
    "no_overclaim", "asid_recycle", "user_pcid_flush", "global_asid_rollover"};
constexpr std::string_view Name(KernelFix fix) {
  return kKernelFixNames[static_cast<size_t>(fix)];
}

class KernelFixSet {
 public:
  bool Has(KernelFix fix) const { return (bits_ & BitOf(fix)) != 0; }
  void Add(KernelFix fix) { bits_ |= BitOf(fix); }
  bool empty() const { return bits_ == 0; }
  uint32_t bits() const { return bits_; }

  friend bool operator==(const KernelFixSet&, const KernelFixSet&) = default;

 private:
  static uint32_t BitOf(KernelFix fix) {
    return uint32_t{1} << static_cast<unsigned>(fix);
  }
  uint32_t bits_ = 0;
};

struct KernelConfig {
  KernelVersion version = KernelVersion::kLinux6_15;
  FlushPolicyKind flush_policy = FlushPolicyKind::kAuto;
  std::optional<uint32_t> flush_ceiling{};  // pages; nothing: the version's 33
  std::optional<uint32_t> flush_shift{};    // nothing: the processor model's
  uint32_t tick_us = 1000;  // between scheduler ticks of a CPU (1 / HZ)
  bool pcid = true;         // where version and processor have them ("nopcid")
  bool kpti = false;
  // Under it, user pages are flushed on the return to the program.
  bool flush_in_context = false;
  LazyMode lazy = LazyMode::kAuto;
  RemoteFlushKind remote_flush = RemoteFlushKind::kAuto;
  uint32_t footprint = 0;  // pages of its own that each entry touches
  bool footprint_2m = true;
  std::optional<uint32_t> global_asids{};  // nothing: the processor's
  KernelFixSet unfixed{};

  friend bool operator==(const KernelConfig&, const KernelConfig&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_KERNEL_CONFIG_H_
