// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/timed_cpus.h"

#include <algorithm>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/programs.h"
#include "lookaside/machine/step.h"

namespace lookaside {
namespace {

std::string_view WaitName(uint16_t what) {
  switch (static_cast<KernelWait>(what)) {
    case KernelWait::kAcknowledgements:
      return "acknowledgements";
    case KernelWait::kMmapLock:
      return "the mmap lock";
    case KernelWait::kPageTableLock:
      return "the page-table lock";
    case KernelWait::kFlushVector:
      return "a flush vector";
  }
  return "something";
}

}  // namespace

TimedCpus::TimedCpus(Machine& machine, Kernel& kernel)
    : machine_(machine),
      kernel_(kernel),
      hardware_(machine),
      states_(machine.topology().cpus()) {}

void TimedCpus::Wake(CpuId cpu) {
  State& state = states_[cpu.value()];
  if (!state.active) {
    state.active = true;
    active_.insert(std::ranges::upper_bound(active_, cpu), cpu);
  }
  woken_.push_back(cpu);
}

void TimedCpus::Begin(CpuId cpu, const Operation& operation) {
  State& state = states_[cpu.value()];
  LOOKASIDE_CHECK(!state.began);
  state.operation =
      machine_.BeginOperation(cpu, std::string(Name(operation.kind)));
  state.told = kernel_.Start(hardware_, cpu, operation);
  state.began = true;
}

absl::Status TimedCpus::BeginFault(CpuId cpu, const Fault& fault) {
  State& state = states_[cpu.value()];
  LOOKASIDE_CHECK(!state.began);
  LOOKASIDE_RETURN_IF_ERROR(kernel_.StartFault(hardware_, cpu, fault));
  state.operation = machine_.BeginOperation(cpu, "page_fault");
  state.told.reset();
  state.began = true;
  return absl::OkStatus();
}

// Whether `cpu` takes interrupts now.
bool TimedCpus::IsOpen(CpuId cpu) {
  const Cpu& thread = machine_.cpu(cpu);
  const std::optional<StepWait>& wait = thread.steps().waiting();
  return !thread.interrupts_off() && (!wait || wait->interrupts_open);
}

// When an interrupt that is pending on `cpu`, or its scheduler tick, would be
// taken.
std::optional<uint64_t> TimedCpus::InterruptAt(CpuId cpu) {
  if (!IsOpen(cpu)) return std::nullopt;
  const Cpu& thread = machine_.cpu(cpu);
  // A tick within an operation waits for its end: nothing depends on it.
  std::optional<Cycles> due;
  if (thread.steps().empty()) due = kernel_.NextTick(cpu);
  if (!thread.interrupts().empty()) {
    const Cycles sent = thread.interrupts().next().due;
    due = due ? std::min(*due, sent) : sent;
  }
  if (!due) return std::nullopt;
  return std::max(thread.clock(), *due).value();
}

// Of what is due at the same time, interrupts come before the tick.
void TimedCpus::TakeInterrupt(CpuId cpu) {
  const Cpu& thread = machine_.cpu(cpu);
  if (!thread.interrupts().empty() && thread.interrupts().next().due <= now_) {
    LOOKASIDE_CHECK(kernel_.TakeInterrupt(hardware_, cpu));
    return;
  }
  hardware_.IdleUntil(cpu, now_);
  kernel_.StartTick(hardware_, cpu);
}

uint64_t TimedCpus::NextOf(CpuId cpu, CpuPrograms& programs) {
  const Cpu& thread = machine_.cpu(cpu);
  const uint64_t clock = thread.clock().value();
  uint64_t next = InterruptAt(cpu).value_or(kNever);
  if (!thread.steps().empty()) {
    if (!thread.steps().waiting()) next = clock;
  } else if (const auto ready = programs.ReadyAt(cpu)) {
    next = std::min(next, std::max(clock, ready->value()));
  }
  return next;
}

void TimedCpus::Update(CpuPrograms& programs) {
  for (const CpuId cpu : woken_) {
    states_[cpu.value()].next = NextOf(cpu, programs);
  }
  woken_.clear();
}

void TimedCpus::UpdateAll(CpuPrograms& programs) {
  woken_.clear();
  for (const CpuId cpu : active_) {
    states_[cpu.value()].next = NextOf(cpu, programs);
  }
}

// What the others wait for may be there: their clocks move on to when it came.
void TimedCpus::EndWaits(CpuId by, Cycles time) {
  for (auto cpu = waiting_.begin(); cpu != waiting_.end();) {
    StepStack& stack = hardware_.steps(*cpu);
    if (*cpu == by || !stack.waiting()) {
      ++cpu;
      continue;
    }
    if (!kernel_.WaitIsOver(hardware_, *cpu)) {
      ++cpu;
      continue;
    }
    // The step itself knows when the last acknowledgement was seen.
    if (stack.waiting()->what !=
        static_cast<uint16_t>(KernelWait::kAcknowledgements)) {
      kernel_.WaitUntil(hardware_, *cpu, time);
    }
    stack.set_waiting(std::nullopt);
    cpu = waiting_.erase(cpu);
  }
}

absl::StatusOr<bool> TimedCpus::Step(CpuPrograms& programs) {
  Update(programs);
  uint64_t first = kNever;
  uint64_t second = kNever;  // the CPU may go on while it is before that
  CpuId cpu;
  for (const CpuId other : active_) {
    const uint64_t next = states_[other.value()].next;
    if (next < first) {
      second = first;
      first = next;
      cpu = other;
    } else {
      // Of equal clocks the lower number goes first.
      second = std::min(second, next == kNever ? kNever : next + 1);
    }
  }
  if (first == kNever) {
    LOOKASIDE_RETURN_IF_ERROR(Deadlock());
    return false;
  }
  now_ = Cycles(first);
  LOOKASIDE_RETURN_IF_ERROR(Act(cpu, Cycles(second), programs));
  return true;
}

absl::Status TimedCpus::Act(CpuId cpu, Cycles until, CpuPrograms& programs) {
  StepStack& stack = hardware_.steps(cpu);
  const std::optional<uint64_t> interrupt = InterruptAt(cpu);
  if (interrupt && *interrupt == now_.value()) {
    if (stack.waiting()) kernel_.WaitUntil(hardware_, cpu, now_);
    waiting_.erase(cpu);
    TakeInterrupt(cpu);
    Wake(cpu);
    return absl::OkStatus();
  }
  if (!stack.empty()) return StepKernel(cpu, programs);
  hardware_.IdleUntil(cpu, now_);
  if (interrupt) until = std::min(until, Cycles(*interrupt));
  const absl::Status went = programs.GoOn(cpu, until);
  Wake(cpu);
  return went;
}

absl::Status TimedCpus::StepKernel(CpuId cpu, CpuPrograms& programs) {
  State& state = states_[cpu.value()];
  machine_.ContinueOperation(cpu, state.operation);
  const StackState stack = kernel_.Step(hardware_, cpu);
  switch (stack) {
    case StackState::kReady:
      break;
    case StackState::kWaiting:
      waiting_.insert(cpu);
      break;
    case StackState::kEmpty:
      LOOKASIDE_RETURN_IF_ERROR(Finish(cpu, programs));
      break;
    case StackState::kFailed: {
      const OperationId operation = state.operation;
      state.operation = OperationId();
      state.began = false;
      kernel_.Promise(hardware_, operation);
      LOOKASIDE_RETURN_IF_ERROR(programs.Failed(cpu, kernel_.error()));
      break;
    }
  }
  EndWaits(cpu, hardware_.clock(cpu));
  UpdateAll(programs);
  return absl::OkStatus();
}

// Nothing, if only an interrupt has ended.
absl::Status TimedCpus::Finish(CpuId cpu, CpuPrograms& programs) {
  State& state = states_[cpu.value()];
  if (!state.began) return absl::OkStatus();
  kernel_.Promise(hardware_, state.operation);
  state.operation = OperationId();
  state.began = false;
  const int64_t result = state.told.value_or(
      static_cast<int64_t>(hardware_.steps(cpu).returned()));
  return programs.Returned(cpu, result);
}

std::string TimedCpus::WaitOf(CpuId cpu) {
  const StepStack& stack = hardware_.steps(cpu);
  const KernelPrograms programs = ProgramsOf(kernel_.state().rules);
  const KernelSteps& program = *programs[stack.top().program().value()];
  return fmt::format("CPU {} waits for {} in {}", cpu.value(),
                     WaitName(stack.waiting()->what), program.name);
}

absl::Status TimedCpus::Deadlock() {
  std::string waits;
  for (const CpuId cpu : active_) {
    const StepStack& stack = hardware_.steps(cpu);
    if (stack.empty() || !stack.waiting()) continue;
    machine_.checks().Add(
        {Check::kC10, cpu, VirtPage(0), Cycles(), WaitOf(cpu)});
    waits += (waits.empty() ? "" : ", ") + WaitOf(cpu);
  }
  if (waits.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("deadlock at cycle {} (C10): {}, and nothing else can happen",
                  now_.value(), waits));
}

}  // namespace lookaside
