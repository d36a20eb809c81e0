// SPDX-License-Identifier: Apache-2.0
#include "lookaside/machine/step.h"

#include <gtest/gtest.h>

#include <string>

#include "lookaside/base/digest.h"

namespace lookaside {
namespace {

// A world of one counter and one gate, for programs that add and wait.
struct World {
  std::optional<StepFrame> callee;
  bool split = false;
  bool gate_open = false;
  uint64_t returned = 0;
  uint64_t sum = 0;
  std::string log;
};

struct AddLocals {
  uint64_t next;
  uint64_t end;
};

constexpr ProgramId kAdd(0);
constexpr ProgramId kOuter(1);

StepResult AddRange(World& world, StepFrame& frame) {
  auto& locals = frame.As<AddLocals>();
  world.log += "a";
  while (locals.next < locals.end) {
    world.sum += locals.next++;
    if (world.split && locals.next < locals.end) return StepResult::Again();
  }
  return StepResult::Next();
}
StepResult ReturnSum(World& world, StepFrame&) {
  world.log += "r";
  return StepResult::Done(world.sum);
}

enum OuterStep { kCallAdd, kCheck, kSkipped, kGate, kEnd };
StepResult CallAdd(World& world, StepFrame&) {
  world.callee = StepFrame(kAdd, AddLocals{1, 5});
  return StepResult::Call();
}
StepResult Check(World&, StepFrame&) { return StepResult::Jump(kGate); }
StepResult Skipped(World& world, StepFrame&) {
  world.log += "!";
  return StepResult::Next();
}
StepResult Gate(World& world, StepFrame&) {
  world.log += "g";
  if (world.gate_open) return StepResult::Next();
  return StepResult::Wait({.what = 3, .object = 9, .interrupts_open = false});
}
StepResult End(World&, StepFrame&) { return StepResult::Done(77); }

constexpr Step<World> kAddSteps[] = {
    {.name = "add", .splittable = true, .text = "", .run = &AddRange},
    {.name = "return", .text = "", .run = &ReturnSum},
};
constexpr Step<World> kOuterSteps[] = {
    {.name = "call", .text = "", .run = &CallAdd},
    {.name = "check", .text = "", .run = &Check},
    {.name = "skipped", .text = "", .run = &Skipped},
    {.name = "gate", .text = "", .run = &Gate},
    {.name = "end", .text = "", .run = &End},
};
constexpr Program<World> kAddProgram{"add", "", kAddSteps};
constexpr Program<World> kOuterProgram{"outer", "", kOuterSteps};
constexpr const Program<World>* kPrograms[] = {&kAddProgram, &kOuterProgram};

StackState RunAll(World& world, StepStack& stack) {
  StackState state = StackState::kReady;
  while (state == StackState::kReady) {
    state = RunStep<World>(world, kPrograms, stack);
    world.returned = stack.returned();
  }
  return state;
}

TEST(StepTest, CallsNestAndReturnAValue) {
  World world;
  world.gate_open = true;
  StepStack stack;
  stack.Push(StepFrame(kOuter));
  EXPECT_EQ(RunAll(world, stack), StackState::kEmpty);
  EXPECT_EQ(world.sum, 10u);
  EXPECT_EQ(world.log, "arg");
  EXPECT_EQ(world.returned, 77u);
}

TEST(StepTest, ASplitRangeEndsInTheSameState) {
  World whole, split;
  split.split = true;
  for (World* world : {&whole, &split}) {
    StepStack stack;
    stack.Push(StepFrame(kAdd, AddLocals{1, 5}));
    EXPECT_EQ(RunAll(*world, stack), StackState::kEmpty);
  }
  EXPECT_EQ(whole.sum, split.sum);
  EXPECT_EQ(whole.log, "ar");
  EXPECT_EQ(split.log, "aaaar");
}

TEST(StepTest, WaitingIsAStateThatLaterRunsLeave) {
  World world;
  StepStack stack;
  stack.Push(StepFrame(kOuter));
  EXPECT_EQ(RunAll(world, stack), StackState::kWaiting);
  ASSERT_TRUE(stack.waiting().has_value());
  EXPECT_EQ(*stack.waiting(), (StepWait{3, 9, false}));
  const StepStack before = stack;
  EXPECT_EQ(RunAll(world, stack), StackState::kWaiting);
  EXPECT_EQ(stack, before);  // running it early changes nothing
  world.gate_open = true;
  EXPECT_EQ(RunAll(world, stack), StackState::kEmpty);
  EXPECT_FALSE(stack.waiting().has_value());
}

TEST(StepTest, StacksAreValues) {
  World world;
  world.split = true;
  StepStack stack;
  stack.Push(StepFrame(kAdd, AddLocals{1, 5}));
  RunStep<World>(world, kPrograms, stack);
  StepStack copy = stack;
  World copied = world;
  EXPECT_EQ(copy, stack);
  RunStep<World>(world, kPrograms, stack);
  EXPECT_NE(copy, stack);
  Digest a, b;
  stack.AddTo(a);
  copy.AddTo(b);
  EXPECT_NE(a.Finish(), b.Finish());
  RunStep<World>(copied, kPrograms, copy);
  EXPECT_EQ(copy, stack);
  EXPECT_EQ(copied.sum, world.sum);
}

TEST(StepDeathTest, AProgramThatCallsItselfWithoutEndIsAMistake) {
  StepStack stack;
  const auto push_all = [&] {
    for (size_t i = 0; i <= StepStack::kDeepest; ++i) {
      stack.Push(StepFrame(kOuter));
    }
  };
  EXPECT_DEATH(push_all(), "kDeepest");
}

}  // namespace
}  // namespace lookaside
