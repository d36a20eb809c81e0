// SPDX-License-Identifier: Apache-2.0
//
// Locks as states, for programs of steps: a step asks, and waits while the
// answer is no. First come, first served, readers too: a reader behind a
// waiting writer waits, as with Linux's rw_semaphore (mmap lock) and queued
// spinlocks (page-table lock). Left out: spinning before sleeping, and the
// writer's lock stealing.
//
// Asking again changes nothing, so a waiting step may be run at any time.
//
// A value: comparable, hashable.
//
//   if (!lock.Acquire(cpu, /*write=*/true)) return StepResult::Wait(...);
//   ...
//   lock.Release(cpu);
#ifndef LOOKASIDE_KERNEL_FIFO_LOCK_H_
#define LOOKASIDE_KERNEL_FIFO_LOCK_H_

#include <algorithm>
#include <functional>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/ids.h"

namespace lookaside {

class FifoLock {
 public:
  // Whether `cpu` holds the lock now; if not, it is in the queue.
  bool Acquire(CpuId cpu, bool write) {
    if (HeldBy(cpu)) return true;
    const Request request{cpu, write};
    const auto place = std::ranges::find(queue_, request);
    if (place == queue_.end()) queue_.push_back(request);
    Grant();
    return HeldBy(cpu);
  }

  // REQUIRES: HeldBy(cpu).
  void Release(CpuId cpu) {
    const auto holder = std::ranges::find(holders_, cpu);
    LOOKASIDE_CHECK(holder != holders_.end());
    holders_.erase(holder);
    Grant();
  }

  // From writing to reading, without letting go.
  // REQUIRES: HeldBy(cpu) for writing.
  void Downgrade(CpuId cpu) {
    LOOKASIDE_CHECK(written_ && HeldBy(cpu));
    written_ = false;
    Grant();
  }

  bool HeldBy(CpuId cpu) const {
    return std::ranges::find(holders_, cpu) != holders_.end();
  }
  bool written() const { return written_; }
  bool free() const { return holders_.empty() && queue_.empty(); }
  size_t waiting() const { return queue_.size(); }

  void AddTo(Digest& digest) const {
    digest.Add(holders_.size());
    for (const CpuId cpu : holders_) digest.Add(cpu);
    digest.Add(queue_.size());
    for (const Request& request : queue_) {
      digest.Add(request.cpu);
      digest.Add(request.write);
    }
    digest.Add(written_);
  }
  friend bool operator==(const FifoLock&, const FifoLock&) = default;

 private:
  struct Request {
    CpuId cpu;
    bool write = false;

    friend bool operator==(const Request&, const Request&) = default;
  };

  // Lets in whoever is first, and every reader right behind a reader.
  void Grant() {
    while (!queue_.empty()) {
      const Request first = queue_.front();
      if (!holders_.empty() && (written_ || first.write)) return;
      queue_.erase(queue_.begin());
      const auto after =
          std::ranges::upper_bound(holders_, first.cpu, std::less<>());
      holders_.insert(after, first.cpu);
      written_ = first.write;
    }
    if (holders_.empty()) written_ = false;
  }

  std::vector<CpuId> holders_;  // ascending: who came first does not matter
  std::vector<Request> queue_;
  bool written_ = false;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_FIFO_LOCK_H_
