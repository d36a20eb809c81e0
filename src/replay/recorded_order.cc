// SPDX-License-Identifier: Apache-2.0
#include "lookaside/replay/recorded_order.h"

#include <algorithm>
#include <optional>

#include "lookaside/base/status.h"
#include "lookaside/replay/call_operation.h"
#include "lookaside/replay/placement.h"

namespace lookaside {

CpuId RecordedOrder::CpuOf(uint32_t thread) const {
  const ReplayConfig& replay = simulation_.config().replay;
  return PlaceThread(replay.placement, simulation_.machine().topology(),
                     CpuId(replay.cpu), thread);
}

RecordedOrder::Task& RecordedOrder::TaskOf(uint32_t thread) {
  const Task unheard_of{.mm = mm_, .gone = mm_ == kNoMm};
  return tasks_.try_emplace(thread, unheard_of).first->second;
}

absl::Status RecordedOrder::Resume(uint32_t thread, Task& task) {
  const CpuId cpu = CpuOf(thread);
  if (task.gone) {
    LOOKASIDE_ASSIGN_OR_RETURN(task.mm, simulation_.NewProcess(cpu));
    task.gone = false;
    ++calls_.revived;
  }
  simulation_.IdleUntil(cpu, preceding_start_);
  const Occupant self{recording_, thread};
  const auto last = occupants_.find(cpu);
  if (last != occupants_.end() && last->second == self) return absl::OkStatus();
  occupants_.insert_or_assign(cpu, self);
  return simulation_.SwitchTask(cpu, task.mm);
}

absl::Status RecordedOrder::Play(uint32_t thread,
                                 std::span<const TraceEvent> events,
                                 Pacing pacing) {
  if (events.empty()) return absl::OkStatus();
  LOOKASIDE_RETURN_IF_ERROR(Resume(thread, TaskOf(thread)));
  const CpuId cpu = CpuOf(thread);
  // The last event apart: what follows on another clock begins no earlier.
  LOOKASIDE_RETURN_IF_ERROR(
      simulation_.Play(cpu, events.first(events.size() - 1), pacing));
  preceding_start_ = simulation_.machine().cpu(cpu).clock();
  return simulation_.Play(cpu, events.last(1), pacing);
}

absl::StatusOr<int64_t> RecordedOrder::Run(uint32_t thread,
                                           const Operation& operation) {
  LOOKASIDE_RETURN_IF_ERROR(Resume(thread, TaskOf(thread)));
  const CpuId cpu = CpuOf(thread);
  preceding_start_ = simulation_.machine().cpu(cpu).clock();
  LOOKASIDE_ASSIGN_OR_RETURN(const int64_t result,
                             simulation_.RunOperation(cpu, operation));
  ++calls_.applied;
  if (result < 0) ++calls_.refused;
  return result;
}

absl::Status RecordedOrder::End(uint32_t thread) {
  Operation exit;
  exit.kind = OperationKind::kExit;
  LOOKASIDE_RETURN_IF_ERROR(Run(thread, exit).status());
  Task& task = TaskOf(thread);
  task.gone = true;
  occupants_.erase(CpuOf(thread));
  const bool lives = std::ranges::any_of(tasks_, [&](const auto& other) {
    return !other.second.gone && other.second.mm == task.mm;
  });
  // The kernel has done away with it, and may give its number out again.
  if (!lives && mm_ == task.mm) mm_ = kNoMm;
  return absl::OkStatus();
}

// Of the other threads of its address space.
absl::Status RecordedOrder::EndOthers(uint32_t thread) {
  const MmId mm = TaskOf(thread).mm;
  for (auto& [other, task] : tasks_) {
    if (other == thread || task.gone || task.mm != mm) continue;
    LOOKASIDE_RETURN_IF_ERROR(End(other));
  }
  return absl::OkStatus();
}

absl::Status RecordedOrder::Apply(const MemoryCall& call) {
  const std::optional<Operation> operation = OperationOf(call);
  if (!operation) return absl::OkStatus();
  const uint32_t thread = call.thread;
  switch (call.kind) {
    case CallKind::kExitGroup:
      LOOKASIDE_RETURN_IF_ERROR(EndOthers(thread));
      return End(thread);
    case CallKind::kExit:
      return End(thread);
    case CallKind::kExecve: {
      LOOKASIDE_RETURN_IF_ERROR(EndOthers(thread));
      LOOKASIDE_ASSIGN_OR_RETURN(const int64_t mm, Run(thread, *operation));
      Task& task = TaskOf(thread);
      if (mm_ == task.mm) mm_ = MmId(static_cast<uint32_t>(mm));
      task.mm = MmId(static_cast<uint32_t>(mm));
      return absl::OkStatus();
    }
    case CallKind::kFork:
    case CallKind::kClone: {
      LOOKASIDE_ASSIGN_OR_RETURN(const int64_t mm, Run(thread, *operation));
      if (call.child == MemoryCall::kNoThread) return absl::OkStatus();
      tasks_.insert_or_assign(
          call.child,
          Task{call.kind == CallKind::kFork ? MmId(static_cast<uint32_t>(mm))
                                            : TaskOf(thread).mm});
      return absl::OkStatus();
    }
    default:
      return Run(thread, *operation).status();
  }
}

}  // namespace lookaside
