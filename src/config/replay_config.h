// SPDX-License-Identifier: Apache-2.0
//
// How a recording is played: keys `replay.*`.
#ifndef LOOKASIDE_CONFIG_REPLAY_CONFIG_H_
#define LOOKASIDE_CONFIG_REPLAY_CONFIG_H_

#include <cstdint>

namespace lookaside {

// Where the threads of a recording run: replay/placement.h.
enum class ReplayPlacement : uint8_t {
  kRecorded,
  kPack,
  kSpread,
  kRoundRobin,
};

// What becomes of a recording's memory-management calls.
enum class ReplayOperations : uint8_t { kApply, kIgnore };

// What orders the events of different threads: docs/model.md.
enum class ReplayOrder : uint8_t {
  kAuto,      // recorded for recordings, timed for generators
  kRecorded,  // the record
  kTimed,     // the clocks of the CPUs
};

struct ReplayConfig {
  uint32_t cpu = 0;  // hardware thread of the recording's first thread
  ReplayPlacement placement = ReplayPlacement::kRecorded;
  ReplayOperations operations = ReplayOperations::kApply;
  ReplayOrder order = ReplayOrder::kAuto;
  // How long a thread runs while others wait for its CPU. Default: 3 ms, about
  // what Linux's scheduler gives on 8 CPUs and more (kernel/sched/fair.c:
  // sysctl_sched_min_granularity, since 6.6 sysctl_sched_base_slice; 0.75 ms,
  // times 1 + log2 of the CPUs, of 8 at most).
  uint32_t slice_us = 3000;
  // Events of a recording that timed order looks ahead to find what each
  // thread does next; a thread without one is asleep. Default: several turns
  // of Valgrind's scheduler, 100,000 basic blocks each.
  uint64_t lookahead = uint64_t{1} << 22;
  // Events that kernel.flush.policy = clairvoyant knows beforehand. Default: a
  // few times what refills the largest TLB.
  uint64_t foresight = uint64_t{1} << 20;
  uint64_t warmup = 0;  // accesses that run before counting starts
  bool strict = false;  // an access outside every known mapping is an error

  friend bool operator==(const ReplayConfig&, const ReplayConfig&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_CONFIG_REPLAY_CONFIG_H_
