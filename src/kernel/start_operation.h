// SPDX-License-Identifier: Apache-2.0
//
// From an Operation to the frame of its program.
#ifndef LOOKASIDE_KERNEL_START_OPERATION_H_
#define LOOKASIDE_KERNEL_START_OPERATION_H_

#include <optional>

#include "lookaside/kernel/kernel_context.h"
#include "lookaside/kernel/operation.h"

namespace lookaside {

// Nothing: the operation has no effect, and returns `k.returned`, negative
// for an error, as the system call would.
std::optional<StepFrame> FrameOf(KernelContext& k, const Operation& operation);

// Whether it enters the kernel by a system call.
bool IsSyscall(OperationKind kind);

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_START_OPERATION_H_
