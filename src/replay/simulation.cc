// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/simulation.h"

#include <algorithm>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/kernel/kernel_rules.h"

namespace lookaside {
namespace {

// An access whose fault was handled this often without success is a mistake
// in the kernel, not in the program.
constexpr int kMostFaultsPerAccess = 64;

// Events of the run that `events` begin with (trace/page_run.h), where a tick
// may fall.
size_t FirstRun(std::span<const TraceEvent> events) {
  constexpr size_t kAtOnce = 32;
  RunFolder folder;
  std::vector<PageRun> runs;
  for (size_t at = 0; at < events.size(); at += kAtOnce) {
    const size_t n = std::min(kAtOnce, events.size() - at);
    if (folder.Fold(events.subspan(at, n), runs) < n) break;
    if (!runs.empty()) break;
  }
  return runs.empty() ? events.size() : EventsOf(runs.front());
}

}  // namespace

MachineConfig MachineConfigOf(const SimConfig& config, uint64_t seed) {
  return {.topology = config.machine,
          .tlb = config.tlb,
          .psc = config.psc,
          .walk = config.walk,
          .paging = config.paging,
          .cost = config.cost,
          .seed = seed};
}

Simulation::Simulation(const SimConfig& config, uint64_t seed,
                       const Machine& machine)
    : config_(config),
      seed_(seed),
      machine_(machine),
      kernel_(KernelRules::From(config.kernel, config.machine, config.tlb),
              config.paging.thp, config.replay.strict) {}

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Create(
    const SimConfig& config, uint64_t seed) {
  LOOKASIDE_RETURN_IF_ERROR(Validate(config));
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine,
                             Machine::Create(MachineConfigOf(config, seed)));
  std::unique_ptr<Simulation> simulation(
      new Simulation(config, seed, *machine));
  BareMetal hardware(simulation->machine_);
  LOOKASIDE_ASSIGN_OR_RETURN(
      simulation->mm_,
      simulation->kernel_.CreateMm(hardware,
                                   hardware.NodeOf(CpuId(config.replay.cpu))));
  return simulation;
}

// Switches `cpu` to the process unless it runs there already.
void Simulation::Run(CpuId cpu) {
  if (machine_.cpu(cpu).has_context()) return;
  BareMetal hardware(machine_);
  kernel_.SwitchTo(hardware, cpu, mm_);
}

absl::StatusOr<MmId> Simulation::NewProcess(CpuId cpu) {
  BareMetal hardware(machine_);
  return kernel_.CreateMm(hardware, hardware.NodeOf(cpu));
}

absl::Status Simulation::SwitchTask(CpuId cpu, MmId mm) {
  BareMetal hardware(machine_);
  if (!machine_.cpu(cpu).has_context()) {
    kernel_.SwitchTo(hardware, cpu, mm);
    return absl::OkStatus();
  }
  LOOKASIDE_RETURN_IF_ERROR(kernel_.TakeTicks(hardware, cpu));
  Operation operation;
  operation.kind = OperationKind::kSwitch;
  operation.mm = mm;
  return kernel_.Run(hardware, cpu, operation).status();
}

absl::StatusOr<int64_t> Simulation::RunOperation(CpuId cpu,
                                                 const Operation& operation) {
  BareMetal hardware(machine_);
  LOOKASIDE_RETURN_IF_ERROR(kernel_.TakeTicks(hardware, cpu));
  return kernel_.Run(hardware, cpu, operation);
}

void Simulation::IdleUntil(CpuId cpu, Cycles time) {
  machine_.cpu(cpu).IdleUntil(time);
}

// Ticks fall between runs; where none can come, all is played at once.
absl::Status Simulation::Play(CpuId cpu, std::span<const TraceEvent> events,
                              Pacing pacing) {
  Run(cpu);
  BareMetal hardware(machine_);
  while (!events.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(kernel_.TakeTicks(hardware, cpu));
    const size_t part =
        kernel_.NextTick(cpu) ? FirstRun(events) : events.size();
    LOOKASIDE_RETURN_IF_ERROR(PlayPart(cpu, events.first(part), pacing));
    events = events.subspan(part);
  }
  return absl::OkStatus();
}

absl::Status Simulation::PlayPart(CpuId cpu, std::span<const TraceEvent> events,
                                  Pacing pacing) {
  BareMetal hardware(machine_);
  int faults = 0;
  while (!events.empty()) {
    const Machine::AccessResult done = machine_.Access(cpu, events, pacing);
    played_ += done.consumed;
    events = events.subspan(done.consumed);
    if (!done.fault) break;
    faults = done.consumed == 0 ? faults + 1 : 1;
    LOOKASIDE_CHECK(faults <= kMostFaultsPerAccess);
    LOOKASIDE_RETURN_IF_ERROR(kernel_.HandleFault(hardware, cpu, *done.fault));
  }
  return absl::OkStatus();
}

absl::Status Simulation::PlayRuns(CpuId cpu, std::span<PageRun> runs,
                                  Pacing pacing) {
  Run(cpu);
  BareMetal hardware(machine_);
  while (!runs.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(kernel_.TakeTicks(hardware, cpu));
    const size_t part = kernel_.NextTick(cpu) ? 1 : runs.size();
    LOOKASIDE_RETURN_IF_ERROR(PlayPartOfRuns(cpu, runs.first(part), pacing));
    runs = runs.subspan(part);
  }
  return absl::OkStatus();
}

absl::Status Simulation::PlayPartOfRuns(CpuId cpu, std::span<PageRun> runs,
                                        Pacing pacing) {
  BareMetal hardware(machine_);
  int faults = 0;
  while (!runs.empty()) {
    const Machine::AccessResult done = machine_.AccessRuns(cpu, runs, pacing);
    runs = runs.subspan(done.consumed);
    if (!done.fault) break;
    faults = done.consumed == 0 ? faults + 1 : 1;
    LOOKASIDE_CHECK(faults <= kMostFaultsPerAccess);
    LOOKASIDE_RETURN_IF_ERROR(kernel_.HandleFault(hardware, cpu, *done.fault));
  }
  return absl::OkStatus();
}

RunResult Simulation::Results() const {
  RunResult result;
  result.config = config_;
  result.seed = seed_;
  result.totals.counters = CpuCounters(config_.tlb.arrays.size());
  for (CpuId id : machine_.used_cpus()) {
    const Cpu& cpu = machine_.used_cpu(id);
    UsedCpu used{id,
                 {cpu.counters(), kernel_.faults(id), kernel_.flushes(id),
                  cpu.ledger(), cpu.clock()}};
    result.totals += used.result;
    result.cpus.push_back(std::move(used));
  }
  result.checks = machine_.checks();
  result.tables.freed = kernel_.tables_freed();
  result.tables.allocated =
      machine_.memory().tables.size() + result.tables.freed;
  return result;
}

std::unique_ptr<Simulation> Simulation::Clone() const {
  return std::unique_ptr<Simulation>(new Simulation(*this));
}

Fingerprint Simulation::Digest(Cycles origin) const {
  lookaside::Digest digest(origin);
  const Fingerprint machine = machine_.Digest(origin);
  digest.Add(machine.high);
  digest.Add(machine.low);
  kernel_.AddTo(digest);
  digest.Add(mm_);
  return digest.Finish();
}

}  // namespace lookaside
