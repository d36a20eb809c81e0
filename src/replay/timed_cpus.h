// SPDX-License-Identifier: Apache-2.0
//
// The hardware threads of a machine in timed order: the one with the smallest
// clock goes next, of equal ones the one with the lowest number. What goes at
// a time is a step of a kernel program, or a run of a program's accesses.
//
//   - A CPU that waits, for acknowledgements or for a lock, is not ready; it
//     is again when another CPU's step has ended the wait. Acknowledgements
//     are never predicted: a target's handler gives its own, and the last one
//     sets the clock of the waiter.
//   - An interrupt is taken by the first step or run boundary at or after its
//     due time, in the kernel too, unless interrupts are off. A CPU that waits
//     takes what falls due meanwhile where its wait leaves interrupts open.
//     Until then a target may use stale entries, as real ones do. All that is
//     due on a CPU runs under one entry (kernel/entry_programs.cc).
//   - Where no CPU is ready and nothing falls due, while one is in the middle
//     of an operation, no wait can ever end: a deadlock, counted as C10.
//
// A step happens at once, at the clock that its CPU has before it; what it
// costs passes afterwards. So what another CPU sees of it may be early by as
// much as one step.
//
// What a program does between operations is not known here: CpuPrograms says.
// Not thread-safe. Refers to machine and kernel, which outlive it.
//
//   TimedCpus cpus(machine, kernel);
//   cpus.Wake(CpuId(0));
//   while (*cpus.Step(programs)) {
//   }
#ifndef LOOKASIDE_REPLAY_TIMED_CPUS_H_
#define LOOKASIDE_REPLAY_TIMED_CPUS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"
#include "lookaside/kernel/bare_metal.h"
#include "lookaside/kernel/kernel.h"
#include "lookaside/kernel/operation.h"
#include "lookaside/machine/fault.h"
#include "lookaside/machine/machine.h"

namespace lookaside {

// What the CPUs do when they are in the middle of no operation.
class CpuPrograms {
 public:
  virtual ~CpuPrograms() = default;

  // When the program on `cpu` can go on; nothing if it has nothing to do, or
  // waits for others. A time that has passed means: now.
  virtual std::optional<Cycles> ReadyAt(CpuId cpu) = 0;

  // Goes on: plays accesses until the clock of `cpu` has come to `until`, or
  // until an operation or fault has begun (TimedCpus::Begin, BeginFault).
  virtual absl::Status GoOn(CpuId cpu, Cycles until) = 0;

  // The operation or fault that was begun on `cpu` has returned; `result` is
  // what the system call would return.
  virtual absl::Status Returned(CpuId cpu, int64_t result) = 0;

  // It failed. What is returned ends the simulation, unless it is OK.
  virtual absl::Status Failed(CpuId cpu, const absl::Status& error) = 0;
};

class TimedCpus {
 public:
  TimedCpus(Machine& machine, Kernel& kernel);

  // The program on `cpu` may have become ready, or stopped being so.
  void Wake(CpuId cpu);

  // For CpuPrograms::GoOn: begins what then runs step by step.
  void Begin(CpuId cpu, const Operation& operation);
  absl::Status BeginFault(CpuId cpu, const Fault& fault);

  // Lets the next CPU do its next thing. False: nothing will happen any more.
  absl::StatusOr<bool> Step(CpuPrograms& programs);

  // The clock of the CPU that went last, before it did: no CPU does anything
  // earlier any more.
  Cycles now() const { return now_; }

 private:
  // Later than any clock.
  static constexpr uint64_t kNever = ~uint64_t{0};

  struct State {
    bool active = false;
    uint64_t next = kNever;  // when it does something
    // Of the operation in the middle of which it is.
    OperationId operation;
    bool began = false;
    std::optional<int64_t> told;
  };

  uint64_t NextOf(CpuId cpu, CpuPrograms& programs);
  bool IsOpen(CpuId cpu);
  std::optional<uint64_t> InterruptAt(CpuId cpu);
  void TakeInterrupt(CpuId cpu);
  void Update(CpuPrograms& programs);
  void UpdateAll(CpuPrograms& programs);
  // Ends waits that the last step, at whose end it was `time`, has ended.
  void EndWaits(CpuId by, Cycles time);
  absl::Status Act(CpuId cpu, Cycles until, CpuPrograms& programs);
  absl::Status StepKernel(CpuId cpu, CpuPrograms& programs);
  absl::Status Finish(CpuId cpu, CpuPrograms& programs);
  absl::Status Deadlock();
  std::string WaitOf(CpuId cpu);

  Machine& machine_;
  Kernel& kernel_;
  BareMetal hardware_;
  std::vector<State> states_;  // by CPU
  std::vector<CpuId> active_;  // ascending
  std::vector<CpuId> woken_;   // since the last update
  std::set<CpuId> waiting_;    // whose stack waits
  Cycles now_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_TIMED_CPUS_H_
