// SPDX-License-Identifier: Apache-2.0
//
// Threads of the host that do the same work on many things, again and again:
// lanes of a sweep, buffer by buffer. Which thread does which thing is left to
// chance, so the work on one thing must not depend on the others.
//
//   HostThreads threads(4);
//   threads.ForEach(lanes.size(), [&](size_t i) { lanes[i].Play(events); });
#ifndef LOOKASIDE_BASE_HOST_THREADS_H_
#define LOOKASIDE_BASE_HOST_THREADS_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lookaside {

class HostThreads {
 public:
  // The caller's thread is one of them. REQUIRES: threads > 0.
  explicit HostThreads(unsigned threads);
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  // Calls work(0) to work(count - 1), each once, and returns when all have
  // returned. `work` is called from several threads at once.
  void ForEach(size_t count, const std::function<void(size_t)>& work);

 private:
  void Wait();     // what a further thread does
  void DoShare();  // takes things until there are none left

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  uint64_t round_ = 0;    // of ForEach, guarded by mutex_ like the next three
  unsigned working_ = 0;  // threads that have not finished the round
  bool stop_ = false;
  const std::function<void(size_t)>* work_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
  std::vector<std::thread> threads_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_HOST_THREADS_H_
