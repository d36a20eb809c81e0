// SPDX-License-Identifier: Apache-2.0
//
// The composition root: the one place that wires a machine and the software
// on it from a configuration.
//
//   auto simulation = Simulation::Create(LoadPreset("skylake-sp").value());
//   absl::Status status = (*simulation)->Play(CpuId(0), events);
//   CpuResult totals = (*simulation)->Results().totals;
#ifndef LOOKASIDE_REPLAY_SIMULATION_H_
#define LOOKASIDE_REPLAY_SIMULATION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/digest.h"
#include "lookaside/config/sim_config.h"
#include "lookaside/kernel/flush_policy.h"
#include "lookaside/kernel/kernel.h"
#include "lookaside/kernel/mm_id.h"
#include "lookaside/kernel/operation.h"
#include "lookaside/machine/machine.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/trace/page_run.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

// The machine that `config` describes.
MachineConfig MachineConfigOf(const SimConfig& config, uint64_t seed);

// Not thread-safe; clones are independent.
class Simulation {
 public:
  // A machine with one process, whose page-table root is on the memory node
  // of `config.replay.cpu`. Errors are those of Validate(config).
  static absl::StatusOr<std::unique_ptr<Simulation>> Create(
      const SimConfig& config, uint64_t seed = 0);

  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }
  Kernel& kernel() { return kernel_; }
  const Kernel& kernel() const { return kernel_; }
  const SimConfig& config() const { return config_; }

  // A policy of the user's own, in the place of kernel.flush.policy. Results
  // do not name it.
  void SetFlushPolicy(std::unique_ptr<FlushPolicy> policy) {
    kernel_.SetFlushPolicy(std::move(policy));
  }

  // Plays the process's accesses on `cpu`, handling its faults. An error
  // stops at the access that caused it; `played()` says how many events were
  // done in all. REQUIRES: cpu is below machine().topology().cpus();
  // addresses are canonical with five levels.
  absl::Status Play(CpuId cpu, std::span<const TraceEvent> events,
                    Pacing pacing = Pacing::kInstructions);
  // The same from folded runs, which are used up. The results are the same.
  // REQUIRES: machine().folding_is_exact().
  absl::Status PlayRuns(CpuId cpu, std::span<PageRun> runs,
                        Pacing pacing = Pacing::kInstructions);
  uint64_t played() const { return played_; }

  // The process that the simulation begins with.
  MmId process() const { return mm_; }
  // A further one, its page table on the memory node of `cpu`.
  absl::StatusOr<MmId> NewProcess(CpuId cpu);
  // Makes a task of `mm` the one that runs on `cpu`: by a context switch, but
  // for the first task there.
  absl::Status SwitchTask(CpuId cpu, MmId mm);
  // Runs an operation of the task on `cpu` to its end; what it returns is what
  // the system call would. An error ends the simulation.
  absl::StatusOr<int64_t> RunOperation(CpuId cpu, const Operation& operation);
  // Idles the hardware thread until `time`, if that is ahead.
  void IdleUntil(CpuId cpu, Cycles time);

  // Counters so far; `traces` and `warnings` are the caller's to add.
  RunResult Results() const;

  std::unique_ptr<Simulation> Clone() const;
  // Of all that future results depend on but the flush policy, told from
  // `origin`: nothing will happen before it.
  Fingerprint Digest(Cycles origin = Cycles()) const;

 private:
  Simulation(const SimConfig& config, uint64_t seed, const Machine& machine);
  Simulation(const Simulation&) = default;

  void Run(CpuId cpu);
  absl::Status PlayPart(CpuId cpu, std::span<const TraceEvent> events,
                        Pacing pacing);
  absl::Status PlayPartOfRuns(CpuId cpu, std::span<PageRun> runs,
                              Pacing pacing);

  SimConfig config_;
  uint64_t seed_;
  Machine machine_;
  Kernel kernel_;
  MmId mm_;
  uint64_t played_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_SIMULATION_H_
