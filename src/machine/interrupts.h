// SPDX-License-Identifier: Apache-2.0
//
// Interrupts that were sent to a hardware thread and not yet taken, as data:
// when each is due, who sent it, and an index that means something to the
// software that sent it. The machine never calls up: a driver sees what is
// due and runs the handler of the software that owns the thread.
//
// Taken in the order of their due times; of equal ones, in the order of
// senders, then payloads, so that the order of sending does not matter.
//
// A value: comparable, hashable.
#ifndef LOOKASIDE_MACHINE_INTERRUPTS_H_
#define LOOKASIDE_MACHINE_INTERRUPTS_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "lookaside/base/cycles.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"

namespace lookaside {

struct Interrupt {
  Cycles due;  // on the clock of the thread that takes it
  CpuId sender;
  uint32_t payload = 0;

  friend auto operator<=>(const Interrupt&, const Interrupt&) = default;
};

class PendingInterrupts {
 public:
  bool empty() const { return pending_.empty(); }
  size_t size() const { return pending_.size(); }

  // The next to be taken. REQUIRES: !empty().
  const Interrupt& next() const { return pending_.front(); }

  void Add(const Interrupt& interrupt) {
    pending_.insert(std::ranges::upper_bound(pending_, interrupt), interrupt);
  }
  // REQUIRES: !empty().
  Interrupt Take() {
    const Interrupt taken = pending_.front();
    pending_.erase(pending_.begin());
    return taken;
  }

  void AddTo(Digest& digest) const {
    digest.Add(pending_.size());
    for (const Interrupt& interrupt : pending_) {
      digest.AddTime(interrupt.due);
      digest.Add(interrupt.sender);
      digest.Add(interrupt.payload);
    }
  }
  friend bool operator==(const PendingInterrupts&,
                         const PendingInterrupts&) = default;

 private:
  std::vector<Interrupt> pending_;  // sorted
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_INTERRUPTS_H_
