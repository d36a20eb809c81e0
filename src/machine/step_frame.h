// SPDX-License-Identifier: Apache-2.0
//
// A running kernel operation as a value. A hardware thread has a stack of
// frames; a frame is which program, which of its steps comes next, and locals
// of a fixed size. Frames nest: a fault inside a copy, a flush inside munmap,
// an interrupt's handler on top of whatever it interrupted.
//
// Nothing here knows what programs do: machine/step.h runs them.
//
// Locals are bytes that a program sees as a struct of its own, which must be
// trivially copyable and without padding, so that equal locals are equal
// bytes: frames can be copied, compared and hashed whatever their program.
//
// Values. Not thread-safe.
//
//   struct Locals { VirtPage first; VirtPage end; };
//   StepStack stack;
//   stack.Push(StepFrame(kMunmap, Locals{first, end}));
//   stack.top().As<Locals>().first
#ifndef LOOKASIDE_MACHINE_STEP_FRAME_H_
#define LOOKASIDE_MACHINE_STEP_FRAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/typed_int.h"

namespace lookaside {

struct ProgramIdTag;
// Index of a program in the table that the driver was given.
using ProgramId = TypedInt<ProgramIdTag, uint16_t>;

class StepFrame {
 public:
  static constexpr size_t kBytes = 96;

  explicit StepFrame(ProgramId program) : program_(program) {}
  template <typename Locals>
  StepFrame(ProgramId program, const Locals& locals) : program_(program) {
    CheckLocals<Locals>();
    std::memcpy(bytes_.data(), &locals, sizeof(Locals));
  }

  ProgramId program() const { return program_; }
  uint16_t pc() const { return pc_; }
  void set_pc(uint16_t pc) { pc_ = pc; }

  // REQUIRES: Locals is the type of the frame's program.
  template <typename Locals>
  Locals& As() {
    CheckLocals<Locals>();
    return *std::launder(reinterpret_cast<Locals*>(bytes_.data()));
  }
  template <typename Locals>
  const Locals& As() const {
    CheckLocals<Locals>();
    return *std::launder(reinterpret_cast<const Locals*>(bytes_.data()));
  }

  void AddTo(Digest& digest) const {
    digest.Add(program_);
    digest.Add(pc_);
    digest.AddBytes(bytes_.data(), bytes_.size());
  }
  friend bool operator==(const StepFrame&, const StepFrame&) = default;

 private:
  template <typename Locals>
  static constexpr void CheckLocals() {
    static_assert(sizeof(Locals) <= kBytes && alignof(Locals) <= 8);
    static_assert(std::is_trivially_copyable_v<Locals>);
    static_assert(std::has_unique_object_representations_v<Locals>,
                  "locals must have no padding");
  }

  alignas(8) std::array<std::byte, kBytes> bytes_{};
  ProgramId program_;
  uint16_t pc_ = 0;
};

// Why a stack cannot go on, as its top step said; `what` and `object` mean
// something to the layer whose step it is.
struct StepWait {
  uint16_t what = 0;
  uint32_t object = 0;
  // Whether the hardware thread takes interrupts meanwhile.
  bool interrupts_open = true;

  friend bool operator==(const StepWait&, const StepWait&) = default;
};

class StepStack {
 public:
  // More would be a program that calls itself without end.
  static constexpr size_t kDeepest = 32;

  bool empty() const { return frames_.empty(); }
  size_t depth() const { return frames_.size(); }
  StepFrame& top() { return frames_.back(); }
  const StepFrame& top() const { return frames_.back(); }
  const std::vector<StepFrame>& frames() const { return frames_; }

  void Push(const StepFrame& frame) {
    LOOKASIDE_CHECK(frames_.size() < kDeepest);
    frames_.push_back(frame);
    waiting_.reset();
  }
  void Pop(uint64_t returned) {
    frames_.pop_back();
    returned_ = returned;
  }
  void Clear() {
    frames_.clear();
    waiting_.reset();
  }

  // What the frame popped last returned.
  uint64_t returned() const { return returned_; }

  // What the top step waits for, until it has gone on.
  const std::optional<StepWait>& waiting() const { return waiting_; }
  void set_waiting(std::optional<StepWait> wait) { waiting_ = wait; }

  void AddTo(Digest& digest) const {
    digest.Add(frames_.size());
    for (const StepFrame& frame : frames_) frame.AddTo(digest);
    digest.Add(returned_);
    digest.Add(waiting_.has_value());
    if (!waiting_) return;
    digest.Add(waiting_->what);
    digest.Add(waiting_->object);
    digest.Add(waiting_->interrupts_open);
  }
  friend bool operator==(const StepStack&, const StepStack&) = default;

 private:
  std::vector<StepFrame> frames_;
  uint64_t returned_ = 0;
  std::optional<StepWait> waiting_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_STEP_FRAME_H_
