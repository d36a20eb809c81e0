// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_threads.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"

namespace lookaside {

uint32_t LackeyThreads::ProcessOf(uint32_t pid) {
  const auto [at, is_new] = by_pid_.try_emplace(pid, 0);
  if (!is_new) return at->second;
  if (unnamed_.empty()) {
    at->second = static_cast<uint32_t>(processes_.size());
    processes_.emplace_back();
  } else {
    at->second = unnamed_.front();
    unnamed_.pop_front();
  }
  return at->second;
}

void LackeyThreads::Run(uint32_t pid, uint32_t tid, Named how) {
  process_ = ProcessOf(pid);
  Process& process = processes_[process_];
  const auto [at, is_new] = process.threads.try_emplace(tid);
  Thread& thread = at->second;
  const bool another = (how == Named::kStarting && thread.started) ||
                       (how == Named::kCalling && thread.ended);
  if (is_new || another) thread = {.number = threads_++};
  process.last_tid = tid;
  Start(process, thread);
}

void LackeyThreads::Start(Process& process, Thread& thread) {
  threads_run_ += thread.counted ? 0 : 1;
  processes_run_ += process.counted ? 0 : 1;
  thread.started = true;
  thread.counted = true;
  process.counted = true;
  current_ = thread.number;
}

void LackeyThreads::RunProcess(uint32_t process) {
  LOOKASIDE_DCHECK(process < processes_.size());
  process_ = process;
  Start(processes_[process], Current());
}

LackeyThreads::Thread& LackeyThreads::Current() {
  LOOKASIDE_DCHECK(process_ < processes_.size());
  Process& process = processes_[process_];
  return process.threads[process.last_tid];
}

void LackeyThreads::Exit() {
  Current().ended = true;
  Process& process = processes_[process_];
  process.lowest_free = std::min(process.lowest_free, process.last_tid);
}

uint32_t LackeyThreads::Clone() {
  Process& process = processes_[process_];
  const auto taken = [&process](uint32_t tid) {
    const auto at = process.threads.find(tid);
    return at != process.threads.end() && !at->second.ended;
  };
  while (taken(process.lowest_free)) ++process.lowest_free;
  process.threads[process.lowest_free] = {.number = threads_};
  return threads_++;
}

uint32_t LackeyThreads::Fork() {
  Process child;
  child.last_tid = processes_[process_].last_tid;  // the child keeps it
  child.threads[child.last_tid] = {.number = threads_};
  unnamed_.push_back(static_cast<uint32_t>(processes_.size()));
  processes_.push_back(std::move(child));
  return threads_++;
}

void LackeyThreads::RunFork() {
  RunProcess(static_cast<uint32_t>(processes_.size()) - 1);
}

void LackeyThreads::NameFork(uint32_t pid) { ProcessOf(pid); }

void LackeyThreads::Exec(uint32_t process, uint32_t thread) {
  LOOKASIDE_DCHECK(process < processes_.size());
  Process alone;
  alone.counted = true;
  // It starts anew, but is the thread that it was.
  alone.threads[1] = {.number = thread, .counted = true};
  processes_[process] = std::move(alone);
  process_ = process;
  current_ = thread;
}

std::optional<uint32_t> LackeyThreads::Find(uint32_t pid) const {
  const auto process = by_pid_.find(pid);
  if (process == by_pid_.end()) return std::nullopt;
  return process->second;
}

}  // namespace lookaside
