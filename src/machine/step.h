// SPDX-License-Identifier: Apache-2.0
//
// Programs of named steps, and the one function that runs a step. An
// operation of a kernel or of a hypervisor is such a program; a kernel version
// or a historical bug is another table of steps, not other code.
//
// A step makes at most one access to a *named shared cell* (a page-table
// entry, a bit of a cpumask, a generation), with the fence that goes with it,
// because the subtle bugs live between such accesses. What else it does
// touches nothing that another CPU sees.
//
// Two drivers run the same programs over the same state: the replay runs an
// operation on and charges time; an explorer interleaves the steps of several
// CPUs in every order. For the second, steps over a range are `splittable`:
// told so by the context, such a step does one entry and says Again.
//
// Waiting is a state, never a loop: a step that must wait says for what. The
// driver runs it again when that may have changed; running it earlier changes
// nothing.
//
// `Context` is the layer's own: it gives a step what it works on. It has a
// member `std::optional<StepFrame> callee` for the frame that a step calls.
//
//   constexpr Step<Context> kSteps[] = {
//       {.name = "bump_gen", .cell = "mm.tlb_gen",
//        .access = StepAccess::kAtomic, .fence = StepFence::kFull,
//        .text = "tlb_gen + 1", .run = &BumpGen}, ...};
//   constexpr Program<Context> kFlush{"flush_tlb_mm_range", "...", kSteps};
#ifndef LOOKASIDE_MACHINE_STEP_H_
#define LOOKASIDE_MACHINE_STEP_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "lookaside/base/check.h"
#include "lookaside/machine/step_frame.h"

namespace lookaside {

// What a step does to its cell.
enum class StepAccess : uint8_t {
  kNone,  // no shared cell
  kRead,
  kWrite,
  kAtomic,  // read-modify-write
};

constexpr std::string_view Name(StepAccess access) {
  constexpr std::string_view kNames[] = {"-", "read", "write", "atomic"};
  return kNames[static_cast<int>(access)];
}

// The order it enforces around that access.
enum class StepFence : uint8_t { kNone, kAcquire, kRelease, kFull };

constexpr std::string_view Name(StepFence fence) {
  constexpr std::string_view kNames[] = {"-", "acquire", "release", "full"};
  return kNames[static_cast<int>(fence)];
}

enum class StepAction : uint8_t {
  kNext,
  kJump,   // to step `target`
  kAgain,  // a range step with entries left
  kCall,   // the context's callee; then the next step
  kWait,
  kDone,  // the program ends and returns `value`
  kFail,  // the operation cannot go on; the context holds the reason
};

struct StepResult {
  StepAction action = StepAction::kNext;
  uint16_t target = 0;
  StepWait wait;
  uint64_t value = 0;

  static StepResult Next() { return {}; }
  // To the step of that name in the program's enumeration of its steps.
  static StepResult Jump(auto step) {
    return {StepAction::kJump, static_cast<uint16_t>(step), {}, 0};
  }
  static StepResult Again() { return {StepAction::kAgain, 0, {}, 0}; }
  static StepResult Call() { return {StepAction::kCall, 0, {}, 0}; }
  static StepResult Wait(const StepWait& wait) {
    return {StepAction::kWait, 0, wait, 0};
  }
  static StepResult Done(uint64_t value = 0) {
    return {StepAction::kDone, 0, {}, value};
  }
  static StepResult Fail() { return {StepAction::kFail, 0, {}, 0}; }
};

template <typename Context>
struct Step {
  std::string_view name;
  std::string_view cell = "";  // a name that all programs share
  StepAccess access = StepAccess::kNone;
  StepFence fence = StepFence::kNone;
  bool splittable = false;
  std::string_view text;  // one line
  StepResult (*run)(Context&, StepFrame&);
};

template <typename Context>
struct Program {
  std::string_view name;
  std::string_view text;  // one line
  std::span<const Step<Context>> steps;
};

// By ProgramId; null where the table has none of that number.
template <typename Context>
using ProgramTable = std::span<const Program<Context>* const>;

enum class StackState : uint8_t { kReady, kWaiting, kEmpty, kFailed };

// Runs the top frame's next step. After kFailed the stack is as it was.
// REQUIRES: the stack is not empty.
template <typename Context>
StackState RunStep(Context& context, ProgramTable<Context> programs,
                   StepStack& stack) {
  StepFrame& frame = stack.top();
  const Program<Context>& program = *programs[frame.program().value()];
  const uint16_t pc = frame.pc();
  LOOKASIDE_CHECK(pc < program.steps.size());
  const StepResult result = program.steps[pc].run(context, frame);
  stack.set_waiting(std::nullopt);
  switch (result.action) {
    case StepAction::kNext:
      frame.set_pc(static_cast<uint16_t>(pc + 1));
      return StackState::kReady;
    case StepAction::kJump:
      frame.set_pc(result.target);
      return StackState::kReady;
    case StepAction::kAgain:
      LOOKASIDE_DCHECK(program.steps[pc].splittable);
      return StackState::kReady;
    case StepAction::kCall: {
      LOOKASIDE_CHECK(context.callee.has_value());
      frame.set_pc(static_cast<uint16_t>(pc + 1));
      const StepFrame callee = *context.callee;
      context.callee.reset();
      stack.Push(callee);
      return StackState::kReady;
    }
    case StepAction::kWait:
      stack.set_waiting(result.wait);
      return StackState::kWaiting;
    case StepAction::kDone:
      stack.Pop(result.value);
      return stack.empty() ? StackState::kEmpty : StackState::kReady;
    case StepAction::kFail:
      return StackState::kFailed;
  }
  return StackState::kFailed;
}

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_STEP_H_
