// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/timed_order.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/kernel/bare_metal.h"
#include "lookaside/replay/call_operation.h"
#include "lookaside/replay/placement.h"
#include "lookaside/trace/run_length.h"

namespace lookaside {
namespace {

// As in replay/simulation.cc. Another CPU may take a page away again between
// a fault and the retry, but not this often.
constexpr int kMostFaultsPerAccess = 64;
constexpr Cycles kNever(~uint64_t{0});

}  // namespace

TimedOrder::TimedOrder(Simulation& simulation)
    : simulation_(simulation),
      cpus_(simulation.machine(), simulation.kernel()),
      slice_(uint64_t{simulation.config().replay.slice_us} *
             simulation.config().machine.mhz),
      queues_(simulation.machine().topology().cpus()) {}

Cycles TimedOrder::ClockOf(CpuId cpu) const {
  return simulation_.machine().cpu(cpu).clock();
}

absl::StatusOr<size_t> TimedOrder::AddProcess(ThreadStreams& streams,
                                              Pacing pacing, std::string name) {
  Process process;
  process.name = std::move(name);
  process.streams = &streams;
  process.pacing = pacing;
  process.mm = simulation_.process();
  if (!processes_.empty()) {
    LOOKASIDE_ASSIGN_OR_RETURN(
        process.mm,
        simulation_.NewProcess(CpuId(simulation_.config().replay.cpu)));
  }
  processes_.push_back(process);
  return processes_.size() - 1;
}

TimedOrder::Task& TimedOrder::TaskOf(size_t process, uint32_t thread) {
  Task*& task = processes_[process].tasks[thread];
  if (task != nullptr) return *task;
  const ReplayConfig& replay = simulation_.config().replay;
  tasks_.push_back(std::make_unique<Task>());
  task = tasks_.back().get();
  task->process = process;
  task->thread = thread;
  task->mm = processes_[process].mm;
  task->gone = task->mm == kNoMm;
  task->cpu = PlaceThread(replay.placement, simulation_.machine().topology(),
                          CpuId(replay.cpu), thread);
  return *task;
}

void TimedOrder::AddThread(size_t process, uint32_t thread) {
  Poll(TaskOf(process, thread), cpus_.now());
}

void TimedOrder::Resume(size_t process) { PollAll(process, cpus_.now()); }

void TimedOrder::MakeReady(Task& task, Cycles now) {
  if (task.ready) return;
  task.ready = true;
  task.since = now;
  Queue& queue = QueueOf(task);
  if (queue.loaded != &task) queue.others.push_back(&task);
  cpus_.Wake(task.cpu);
}

void TimedOrder::Poll(Task& task, Cycles now) {
  if (task.ready) return;
  const auto kind = processes_[task.process].streams->Next(task.thread).kind;
  if (kind == ThreadStep::Kind::kAccesses || kind == ThreadStep::Kind::kCall) {
    MakeReady(task, now);
  }
}

void TimedOrder::PollAll(size_t process, Cycles now) {
  for (const auto& [thread, task] : processes_[process].tasks) {
    Poll(*task, now);
  }
}

absl::StatusOr<bool> TimedOrder::Step() { return cpus_.Step(*this); }

std::vector<ThreadResult> TimedOrder::threads() const {
  std::vector<ThreadResult> threads;
  for (size_t i = 0; i < processes_.size(); ++i) {
    for (const auto& [thread, task] : processes_[i].tasks) {
      threads.push_back({i, thread, task->cpu, task->accesses});
    }
  }
  return threads;
}

bool TimedOrder::finished() const {
  return std::ranges::all_of(tasks_, [this](const auto& task) {
    return !task->ready &&
           processes_[task->process].streams->Next(task->thread).kind ==
               ThreadStep::Kind::kEnd;
  });
}

std::optional<Cycles> TimedOrder::ReadyAt(CpuId cpu) {
  const Queue& queue = queues_[cpu.value()];
  std::optional<Cycles> at;
  if (queue.loaded != nullptr && queue.loaded->ready) at = queue.loaded->since;
  for (const Task* other : queue.others) {
    at = at ? std::min(*at, other->since) : other->since;
  }
  return at;
}

// The one that runs, as long as its slice lasts or no other could; then the
// one that has been ready for longest.
TimedOrder::Task& TimedOrder::Choose(Queue& queue, Cycles now) {
  const bool stays = queue.loaded != nullptr && queue.loaded->ready;
  const auto longest = std::ranges::min_element(
      queue.others, {}, [](const Task* task) { return task->since; });
  const bool other = longest != queue.others.end() && (*longest)->since <= now;
  if (stays && (!other || now < queue.slice_end)) return *queue.loaded;
  LOOKASIDE_CHECK(longest != queue.others.end());
  Task& next = **longest;
  queue.others.erase(longest);
  return next;
}

absl::Status TimedOrder::SwitchTo(CpuId cpu, Queue& queue, Task& task) {
  Cpu& thread = simulation_.machine().cpu(cpu);
  if (task.gone) {
    LOOKASIDE_ASSIGN_OR_RETURN(task.mm, simulation_.NewProcess(cpu));
    task.gone = false;
    ++processes_[task.process].calls.revived;
  }
  if (queue.loaded != nullptr) {
    queue.loaded->translations_done = thread.translations_done();
    if (queue.loaded->ready) {
      queue.loaded->since = thread.clock();
      queue.others.push_back(queue.loaded);
    }
  }
  queue.loaded = &task;
  task.begun = true;
  thread.set_translations_done(task.translations_done);
  queue.slice_end = thread.clock() + slice_;
  if (!thread.has_context()) {
    BareMetal hardware(simulation_.machine());
    simulation_.kernel().SwitchTo(hardware, cpu, task.mm);
    return absl::OkStatus();
  }
  Operation operation;
  operation.kind = OperationKind::kSwitch;
  operation.mm = task.mm;
  queue.doing = Doing::kSwitch;
  cpus_.Begin(cpu, operation);
  return absl::OkStatus();
}

absl::Status TimedOrder::GoOn(CpuId cpu, Cycles until) {
  Queue& queue = queues_[cpu.value()];
  Task& task = Choose(queue, ClockOf(cpu));
  if (&task != queue.loaded) {
    LOOKASIDE_RETURN_IF_ERROR(SwitchTo(cpu, queue, task));
    if (queue.doing == Doing::kSwitch) return absl::OkStatus();
  }
  if (task.dying) {
    BeginExit(cpu);
    return absl::OkStatus();
  }
  const ThreadStep step = processes_[task.process].streams->Next(task.thread);
  switch (step.kind) {
    case ThreadStep::Kind::kAccesses:
      if (!queue.others.empty()) until = std::min(until, queue.slice_end);
      return Play(cpu, task, step.events, until);
    case ThreadStep::Kind::kCall:
      BeginCall(cpu, task, *step.call);
      return absl::OkStatus();
    case ThreadStep::Kind::kWaits:
    case ThreadStep::Kind::kEnd:
      task.ready = false;
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Whoever is alone need not stop between runs.
size_t TimedOrder::NextRun(std::span<const TraceEvent> events,
                           bool alone) const {
  const size_t run = alone ? events.size() : RunLength(events);
  const uint64_t most = most_accesses_ - accesses_;
  if (most / 2 >= run) return run;
  size_t n = 0;
  for (uint64_t covered = 0; n < run && covered < most; ++n) {
    covered += Accesses(events[n].kind);
  }
  return n;
}

absl::Status TimedOrder::Play(CpuId cpu, Task& task,
                              std::span<const TraceEvent> events,
                              Cycles until) {
  Machine& machine = simulation_.machine();
  Process& process = processes_[task.process];
  std::optional<Fault> fault;
  size_t played = 0;
  while (played < events.size()) {
    const auto rest = events.subspan(played);
    const size_t run = NextRun(rest, until == kNever);
    if (run == 0) break;
    const Machine::AccessResult done =
        machine.Access(cpu, rest.first(run), process.pacing);
    uint64_t accesses = 0;
    for (const TraceEvent& event : rest.first(done.consumed)) {
      accesses += Accesses(event.kind);
    }
    accesses_ += accesses;
    task.accesses += accesses;
    played += done.consumed;
    if (done.consumed > 0) task.faults = 0;
    fault = done.fault;
    if (fault || machine.used_cpu(cpu).clock() >= until) break;
  }
  if (process.streams->Played(task.thread, played)) {
    PollAll(task.process, ClockOf(cpu));
  }
  if (!fault) return CheckClock(cpu);
  LOOKASIDE_CHECK(++task.faults <= kMostFaultsPerAccess);
  queues_[cpu.value()].doing = Doing::kFault;
  return WithPlace(task, cpus_.BeginFault(cpu, *fault));
}

void TimedOrder::BeginCall(CpuId cpu, Task& task, const MemoryCall& call) {
  const std::optional<Operation> operation = OperationOf(call);
  if (!operation) {
    processes_[task.process].streams->Returned(task.thread);
    PollAll(task.process, ClockOf(cpu));
    return;
  }
  Queue& queue = queues_[cpu.value()];
  queue.doing = Doing::kCall;
  queue.call = call;
  if (call.kind == CallKind::kExitGroup || call.kind == CallKind::kExecve) {
    EndOthers(task);
  }
  cpus_.Begin(cpu, *operation);
}

// The others of its process exit where their CPUs next let them.
void TimedOrder::EndOthers(const Task& task) {
  for (const auto& [thread, other] : processes_[task.process].tasks) {
    if (other == &task || !other->begun || other->gone || other->mm != task.mm)
      continue;
    other->dying = true;
    MakeReady(*other, ClockOf(task.cpu));
  }
}

void TimedOrder::BeginExit(CpuId cpu) {
  Operation exit;
  exit.kind = OperationKind::kExit;
  queues_[cpu.value()].doing = Doing::kExit;
  cpus_.Begin(cpu, exit);
}

void TimedOrder::EndExit(CpuId cpu, Task& task) {
  task.gone = true;
  task.dying = false;
  task.ready = false;
  task.translations_done = 0;
  simulation_.machine().cpu(cpu).set_translations_done(0);
  queues_[cpu.value()].loaded = nullptr;
  ForgetIfDead(task.process, task.mm);
}

// The kernel has done away with an address space that no thread is left in,
// and may give its number out again: threads that have not begun have none.
void TimedOrder::ForgetIfDead(size_t number, MmId mm) {
  Process& process = processes_[number];
  const bool lives = std::ranges::any_of(process.tasks, [mm](const auto& t) {
    return t.second->begun && !t.second->gone && t.second->mm == mm;
  });
  if (lives) return;
  for (const auto& [thread, task] : process.tasks) {
    if (!task->begun && task->mm == mm) task->gone = true;
  }
  if (process.mm == mm) process.mm = kNoMm;
}

// exec: threads that have not begun go with it.
void TimedOrder::Exec(Task& task, MmId mm) {
  Process& process = processes_[task.process];
  for (const auto& [thread, other] : process.tasks) {
    if (!other->begun && other->mm == task.mm) other->mm = mm;
  }
  if (process.mm == task.mm) process.mm = mm;
  task.mm = mm;
}

void TimedOrder::Create(const Task& parent, const MemoryCall& call,
                        int64_t result) {
  if (call.child == MemoryCall::kNoThread) return;
  Task& child = TaskOf(parent.process, call.child);
  child.mm = call.kind == CallKind::kFork ? MmId(static_cast<uint32_t>(result))
                                          : parent.mm;
  child.gone = false;
  child.begun = true;
}

void TimedOrder::EndCall(CpuId cpu, Task& task, int64_t result) {
  Process& process = processes_[task.process];
  const MemoryCall call = queues_[cpu.value()].call;
  ++process.calls.applied;
  if (result < 0) ++process.calls.refused;
  switch (call.kind) {
    case CallKind::kExit:
    case CallKind::kExitGroup:
      EndExit(cpu, task);
      break;
    case CallKind::kExecve:
      Exec(task, MmId(static_cast<uint32_t>(result)));
      break;
    case CallKind::kClone:
    case CallKind::kFork:
      Create(task, call, result);
      break;
    default:
      break;
  }
  process.streams->Returned(task.thread);
  PollAll(task.process, ClockOf(cpu));
}

absl::Status TimedOrder::Returned(CpuId cpu, int64_t result) {
  Queue& queue = queues_[cpu.value()];
  Task& task = *queue.loaded;
  switch (queue.doing) {
    case Doing::kCall:
      EndCall(cpu, task, result);
      break;
    case Doing::kSwitch:
      queue.slice_end = ClockOf(cpu) + slice_;
      break;
    case Doing::kExit:
      EndExit(cpu, task);
      Poll(task, ClockOf(cpu));
      break;
    default:
      break;
  }
  queue.doing = Doing::kProgram;
  return CheckClock(cpu);
}

absl::Status TimedOrder::Failed(CpuId cpu, const absl::Status& error) {
  return WithPlace(*queues_[cpu.value()].loaded, error);
}

absl::Status TimedOrder::WithPlace(const Task& task,
                                   const absl::Status& error) const {
  if (error.ok()) return error;
  const Queue& queue = queues_[task.cpu.value()];
  const std::string call = queue.doing == Doing::kCall
                               ? fmt::format(", at {}", ToString(queue.call))
                               : std::string();
  const std::string& name = processes_[task.process].name;
  return absl::Status(
      error.code(), fmt::format("{}{}thread {}, after {} of its accesses{}: {}",
                                name, name.empty() ? "" : ": ", task.thread,
                                task.accesses, call, Message(error)));
}

// The costliest step stays far below the other half.
absl::Status TimedOrder::CheckClock(CpuId cpu) const {
  constexpr uint64_t kMostCycles = uint64_t{1} << 62;
  if (ClockOf(cpu).value() <= kMostCycles) return absl::OkStatus();
  return ResourceExhausted(
      "after {} accesses: the clock has passed 2^62 cycles; choose smaller "
      "costs or a shorter trace",
      accesses_);
}

}  // namespace lookaside
