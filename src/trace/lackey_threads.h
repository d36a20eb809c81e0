// SPDX-License-Identifier: Apache-2.0
//
// Who made the accesses of a recording of Valgrind's. Access lines do not say;
// Valgrind runs one thread of a process at a time, and its scheduling and
// system-call lines name the one that runs.
//
// Valgrind numbers the threads of a process from 1 and gives the number of a
// thread that has ended to the next one. Here every thread of a recording has
// a number of its own, and every process, both from 0 in order of appearance;
// a clone or fork is an appearance.
//
// Leaves out: what cannot be known. Without scheduling lines a switch shows
// only at the next system call; of several processes in one recording (a child
// that forked writes where its parent does) each line that names one is taken
// to begin its turn.
// Invariant: current() is 0 until a second thread is named. Memory grows with
// the threads, not with the recording. Not thread-safe.
//
//   LackeyThreads threads;
//   threads.Run(7, 1, LackeyThreads::Named::kRunning);   // SCHED[1] of 7
//   const uint32_t child = threads.Clone();              // its clone
//   threads.Run(7, 2, LackeyThreads::Named::kStarting);  // current() == child
#ifndef LOOKASIDE_TRACE_LACKEY_THREADS_H_
#define LOOKASIDE_TRACE_LACKEY_THREADS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace lookaside {

class LackeyThreads {
 public:
  // How a line tells of the thread: that it starts, that it makes a system
  // call (which one that has ended cannot), or that it runs.
  enum class Named { kStarting, kCalling, kRunning };

  // Thread `tid` of process `pid` runs from here on.
  void Run(uint32_t pid, uint32_t tid, Named how);
  // The process runs from here on, in its thread that ran last.
  // REQUIRES: it has been current_process().
  void RunProcess(uint32_t process);

  // The current thread has ended; it stays current until another runs.
  void Exit();
  // The current thread creates one of its process: its number. Valgrind will
  // call it by the lowest number that is free.
  uint32_t Clone();
  // The current thread creates a process: the number of its one thread. The
  // process is the next one that is named for the first time.
  uint32_t Fork();
  // The process of the last Fork runs from here on, whatever its name.
  void RunFork();
  // Process `pid` has been created; its lines may have told of it before.
  void NameFork(uint32_t pid);
  // Thread number `thread` of the process begins another program, alone, and
  // runs from here on. REQUIRES: process has been current_process().
  void Exec(uint32_t process, uint32_t thread);

  // The number of process `pid`, if it has been named.
  std::optional<uint32_t> Find(uint32_t pid) const;

  uint32_t current() const { return current_; }
  uint32_t current_process() const { return process_; }

  // How many have run so far, and not only been created.
  uint32_t threads() const { return threads_run_; }
  uint32_t processes() const { return processes_run_; }

 private:
  struct Thread {
    uint32_t number = 0;
    bool ended = false;
    bool started = false;  // a line told of its start, or that it runs
    bool counted = false;
  };
  struct Process {
    absl::flat_hash_map<uint32_t, Thread> threads;  // by Valgrind's number
    bool counted = false;
    uint32_t last_tid = 1;
    uint32_t lowest_free = 1;  // no number below is
  };

  uint32_t ProcessOf(uint32_t pid);
  void Start(Process& process, Thread& thread);
  Thread& Current();

  std::vector<Process> processes_;
  absl::flat_hash_map<uint32_t, uint32_t> by_pid_;
  std::deque<uint32_t> unnamed_;  // processes of forks, oldest first
  uint32_t threads_ = 0;          // created, or found to run
  uint32_t threads_run_ = 0;
  uint32_t processes_run_ = 0;
  uint32_t process_ = 0;
  uint32_t current_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LACKEY_THREADS_H_
