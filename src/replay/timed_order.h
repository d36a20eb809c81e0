// SPDX-License-Identifier: Apache-2.0
//
// The threads of one or more traces on the hardware threads of the machine, in
// timed order: each thread goes on as its CPU's clock lets it
// (replay/timed_cpus.h), but for what its stream says must come first
// (trace/thread_streams.h). Each trace is a process of its own, and its
// threads are placed as if it were alone (replay/placement.h).
//
// Several threads of one CPU take turns: one runs until it waits or ends, or
// its time slice (`replay.slice_us`) is over while another could run; the
// kernel's context switch brings the other. Whoever has waited longest is
// next. A thread is taken off its CPU only where it would return to the
// program, never inside the kernel (Linux PREEMPT_NONE), and not while it
// sleeps for the mmap lock: then its CPU waits with it.
//
// A thread that waits for an order mark keeps its address space loaded, as in
// recorded order: what makes it wait is the recording, not the program.
//
// Left out: balancing threads over CPUs, priorities, and wake-up preemption.
//
// Not thread-safe. Refers to the simulation and the streams, which outlive it.
//
//   TimedOrder order(simulation);
//   order.AddThread(*order.AddProcess(streams, Pacing::kInstructions), 0);
//   while (*order.Step()) {
//   }
#ifndef LOOKASIDE_REPLAY_TIMED_ORDER_H_
#define LOOKASIDE_REPLAY_TIMED_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/kernel/operation.h"
#include "lookaside/machine/access_path.h"
#include "lookaside/replay/call_counts.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/replay/simulation.h"
#include "lookaside/replay/timed_cpus.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/thread_streams.h"

namespace lookaside {

class TimedOrder final : public CpuPrograms {
 public:
  explicit TimedOrder(Simulation& simulation);

  // A process with that program. The first is the simulation's own; further
  // ones are made. Errors of it begin with `name`. Returns its number, from 0.
  absl::StatusOr<size_t> AddProcess(ThreadStreams& streams, Pacing pacing,
                                    std::string name = "");
  // What advances its clocks, from now on.
  void SetPacing(size_t process, Pacing pacing) {
    processes_[process].pacing = pacing;
  }
  // One of its threads, which may begin as far as its stream lets it. Nothing
  // happens if it is known. Threads that a clone or fork creates need not be
  // told of.
  void AddThread(size_t process, uint32_t thread);
  // Its streams may have got more.
  void Resume(size_t process);

  // Lets the next CPU do its next thing. False: nothing will happen any more
  // unless streams get more.
  absl::StatusOr<bool> Step();

  // Accesses played so far. None beyond `most` are played in one Step.
  uint64_t accesses() const { return accesses_; }
  void PauseAt(uint64_t most) { most_accesses_ = most; }
  Cycles now() const { return cpus_.now(); }

  // Accesses of each thread; `trace` is its process.
  std::vector<ThreadResult> threads() const;
  const CallCounts& calls(size_t process) const {
    return processes_[process].calls;
  }
  // Whether every thread has come to its end.
  bool finished() const;

  // CpuPrograms.
  std::optional<Cycles> ReadyAt(CpuId cpu) override;
  absl::Status GoOn(CpuId cpu, Cycles until) override;
  absl::Status Returned(CpuId cpu, int64_t result) override;
  absl::Status Failed(CpuId cpu, const absl::Status& error) override;

 private:
  // What a CPU is in the middle of.
  enum class Doing : uint8_t { kProgram, kFault, kSwitch, kCall, kExit };

  struct Task {
    size_t process = 0;
    uint32_t thread = 0;
    MmId mm;
    CpuId cpu;
    bool ready = false;  // waits for nothing but its CPU
    bool dying = false;  // its process has ended; it must still exit
    bool gone = false;   // it has exited
    bool begun = false;  // it was created, or has done something
    Cycles since;        // when it became ready
    uint8_t translations_done =
        0;           // of its event in progress, when off its CPU
    int faults = 0;  // of that event
    uint64_t accesses = 0;
  };
  struct Process {
    ThreadStreams* streams = nullptr;
    std::string name;
    Pacing pacing = Pacing::kInstructions;
    MmId mm;  // of threads that nobody created; kNoMm: it has ended
    std::map<uint32_t, Task*> tasks;  // by thread
    CallCounts calls;
  };
  // One CPU's tasks.
  struct Queue {
    Task* loaded = nullptr;     // whose context is on the CPU, if any
    std::vector<Task*> others;  // that are ready, the longest first
    Cycles slice_end;
    Doing doing = Doing::kProgram;
    MemoryCall call;  // of kCall
  };

  Task& TaskOf(size_t process, uint32_t thread);
  Queue& QueueOf(const Task& task) { return queues_[task.cpu.value()]; }
  void Poll(Task& task, Cycles now);
  void PollAll(size_t process, Cycles now);
  void MakeReady(Task& task, Cycles now);

  Task& Choose(Queue& queue, Cycles now);
  absl::Status SwitchTo(CpuId cpu, Queue& queue, Task& task);
  absl::Status Play(CpuId cpu, Task& task, std::span<const TraceEvent> events,
                    Cycles until);
  size_t NextRun(std::span<const TraceEvent> events, bool alone) const;
  void BeginCall(CpuId cpu, Task& task, const MemoryCall& call);
  void BeginExit(CpuId cpu);
  void EndCall(CpuId cpu, Task& task, int64_t result);
  void Create(const Task& parent, const MemoryCall& call, int64_t result);
  void EndExit(CpuId cpu, Task& task);
  void ForgetIfDead(size_t process, MmId mm);
  void Exec(Task& task, MmId mm);
  void EndOthers(const Task& task);
  absl::Status CheckClock(CpuId cpu) const;
  absl::Status WithPlace(const Task& task, const absl::Status& error) const;
  Cycles ClockOf(CpuId cpu) const;

  Simulation& simulation_;
  TimedCpus cpus_;
  Cycles slice_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<Process> processes_;
  std::vector<Queue> queues_;  // by CPU
  uint64_t accesses_ = 0;
  uint64_t most_accesses_ = ~uint64_t{0};
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_TIMED_ORDER_H_
