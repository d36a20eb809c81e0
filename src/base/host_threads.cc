// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/host_threads.h"

#include "lookaside/base/check.h"

namespace lookaside {

HostThreads::HostThreads(unsigned threads) {
  LOOKASIDE_CHECK(threads > 0);
  for (unsigned i = 1; i < threads; ++i) {
    threads_.emplace_back([this] { Wait(); });
  }
}

HostThreads::~HostThreads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HostThreads::ForEach(size_t count,
                          const std::function<void(size_t)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
    working_ = static_cast<unsigned>(threads_.size());
    ++round_;
  }
  begin_.notify_all();
  DoShare();
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return working_ == 0; });
}

void HostThreads::Wait() {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [this, seen] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    DoShare();
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) end_.notify_one();
  }
}

void HostThreads::DoShare() {
  for (size_t i = next_++; i < count_; i = next_++) (*work_)(i);
}

}  // namespace lookaside
