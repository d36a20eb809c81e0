// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_threads.h"

namespace lookaside {

DrmThread& DrmThreads::Find(uint32_t file, uint64_t tid, uint64_t pid) {
  DrmThread*& thread = numbers_[{file, tid}];
  if (thread != nullptr) return *thread;
  const uint32_t process =
      processes_.try_emplace(pid, processes()).first->second;
  threads_.push_back({threads(), process, {}});
  thread = &threads_.back();
  return *thread;
}

}  // namespace lookaside
