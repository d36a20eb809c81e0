// SPDX-License-Identifier: Apache-2.0
//
// From a call of the recorded program to an operation of the simulated kernel.
// The recording's kernel chose where mappings are; its results are followed,
// so that addresses match.
//
// Left out, as operations that change no translation here: advice other than
// DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE and COLLAPSE (REMOVE and the like count
// as DONTNEED where they take pages away), calls that failed, and a brk that
// only asked.
#ifndef LOOKASIDE_REPLAY_CALL_OPERATION_H_
#define LOOKASIDE_REPLAY_CALL_OPERATION_H_

#include <optional>

#include "lookaside/kernel/operation.h"
#include "lookaside/trace/memory_call.h"

namespace lookaside {

// Nothing where the call changes no translation.
std::optional<Operation> OperationOf(const MemoryCall& call);

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_CALL_OPERATION_H_
