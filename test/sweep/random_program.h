// SPDX-License-Identifier: Apache-2.0
//
// Programs made by chance: threads that map, unmap, protect and touch pages.
#ifndef LOOKASIDE_TEST_SWEEP_RANDOM_PROGRAM_H_
#define LOOKASIDE_TEST_SWEEP_RANDOM_PROGRAM_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/rng.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

struct RecordedProgram {
  std::vector<TraceEvent> events;
  std::vector<MemoryCall> calls;
};

// Threads that touch, unmap and protect pages of one region, some phases with
// calls and long ones without, in which TLBs become alike again.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : rng_(seed) {
    Map(0, kPages);
    for (uint32_t thread = 1; thread < kThreads; ++thread) {
      MemoryCall clone;
      clone.kind = CallKind::kClone;
      clone.flags = kCloneFlagVm | kCloneFlagThread;
      clone.child = thread;
      Add(clone);
    }
  }

  RecordedProgram Run(int phases) {
    for (int phase = 0; phase < phases; ++phase) {
      for (int i = 0; i < 40; ++i) {
        Accesses(rng_.Below(200));
        Call();
      }
      Accesses(150'000);
    }
    return std::move(program_);
  }

 private:
  static constexpr uint64_t kPages = 96;
  static constexpr uint32_t kThreads = 3;

  static VirtAddr At(uint64_t page) {
    return VirtAddr(0x7000'0000'0000 + page * 4096);
  }

  void Add(MemoryCall call) {
    call.thread = thread_;
    program_.events.push_back({VirtAddr(0), 0, EventKind::kCall, 0, thread_});
    program_.calls.push_back(call);
  }
  void Map(uint64_t page, uint64_t pages) {
    MemoryCall map;
    map.kind = CallKind::kMmap;
    map.result = At(page);
    map.length = pages * 4096;
    map.prot = kProtRead | kProtWrite;
    map.flags = kMapPrivate | kMapAnonymous | kMapFixed;
    Add(map);
  }
  void Call() {
    MemoryCall call;
    const uint64_t page = rng_.Below(kPages);
    const uint64_t pages =
        1 + rng_.Below(std::min<uint64_t>(40, kPages - page));
    call.kind = rng_.Below(2) == 0 ? CallKind::kMunmap : CallKind::kMprotect;
    call.address = At(page);
    call.length = pages * 4096;
    call.prot = kProtRead;
    Add(call);
    Map(page, pages);
  }
  void Accesses(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      if (rng_.Below(500) == 0) {
        thread_ = static_cast<uint32_t>(rng_.Below(kThreads));
      }
      program_.events.push_back(
          {At(rng_.Below(kPages)), 8,
           rng_.Below(3) == 0 ? EventKind::kStore : EventKind::kLoad, 0,
           thread_});
    }
  }

  Rng rng_;
  RecordedProgram program_;
  uint32_t thread_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_SWEEP_RANDOM_PROGRAM_H_
