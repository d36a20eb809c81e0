// SPDX-License-Identifier: Apache-2.0
//
// The threads and processes of a drmemtrace trace, numbered from 0 in the order
// in which they first did something, whatever file they did it in.
//
// A thread's number of the recording machine may be used again once the thread
// has ended: that is another thread. Memory grows with the threads.
#ifndef LOOKASIDE_TRACE_DRM_THREADS_H_
#define LOOKASIDE_TRACE_DRM_THREADS_H_

#include <cstdint>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lookaside/trace/drm_call.h"

namespace lookaside {

struct DrmThread {
  uint32_t number = 0;
  uint32_t process = 0;
  DrmCall call;  // that it is in, or made last
};

class DrmThreads {
 public:
  // `file` keeps equal numbers of several files apart. Valid as long as this.
  DrmThread& Find(uint32_t file, uint64_t tid, uint64_t pid);
  // The next one of that number is another.
  void End(uint32_t file, uint64_t tid) { numbers_.erase({file, tid}); }

  // In the order of their numbers.
  std::deque<DrmThread>& all() { return threads_; }

  uint32_t threads() const { return static_cast<uint32_t>(threads_.size()); }
  uint32_t processes() const {
    return static_cast<uint32_t>(processes_.size());
  }

 private:
  std::deque<DrmThread> threads_;
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, DrmThread*> numbers_;
  absl::flat_hash_map<uint64_t, uint32_t> processes_;  // by pid
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DRM_THREADS_H_
