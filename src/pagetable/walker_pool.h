// SPDX-License-Identifier: Apache-2.0
//
// The page walkers of one core: how many walks can be in flight at a time.
// Threads of the core share them; a walk that finds all busy waits for the
// first that becomes free.
//
// Left out: a walk's own memory-level parallelism. Walks are granted in the
// order in which they are asked for: a thread whose clock is behind its
// sibling's waits for a walker that, on its own clock, is taken later.
//
// Thread-compatible. A value.
//
//   Cycles start = walkers.Acquire(now, walk.cycles);
//   // now..start is waiting, start..start + walk.cycles the walk
#ifndef LOOKASIDE_PAGETABLE_WALKER_POOL_H_
#define LOOKASIDE_PAGETABLE_WALKER_POOL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"

namespace lookaside {

class WalkerPool {
 public:
  // REQUIRES: walkers > 0.
  explicit WalkerPool(uint32_t walkers) : busy_until_(walkers) {
    LOOKASIDE_CHECK(walkers > 0);
  }

  // Takes a walker for `duration` from the first moment, `now` or later, at
  // which one is free, and returns that moment.
  Cycles Acquire(Cycles now, Cycles duration) {
    Cycles* first = busy_until_.data();
    const Cycles* const last = first + busy_until_.size() - 1;
    const Cycles free = *first;
    const Cycles start = free > now ? free : now;
    const Cycles end = start + duration;
    for (; first != last && first[1] < end; ++first) *first = first[1];
    *first = end;
    return start;
  }

  // `now`: no later Acquire will name an earlier time. A walker that is free
  // by then is as good as any other free one.
  void AddTo(Digest& digest, Cycles now) const {
    digest.Add(busy_until_.size());
    for (const Cycles until : busy_until_) {
      digest.AddTime(until > now ? until : Cycles());
    }
  }
  friend bool operator==(const WalkerPool&, const WalkerPool&) = default;

 private:
  std::vector<Cycles> busy_until_;  // ascending: walkers are alike
};

}  // namespace lookaside

#endif  // LOOKASIDE_PAGETABLE_WALKER_POOL_H_
