// SPDX-License-Identifier: Apache-2.0
//
// How far the next run of a thread's events reaches, by the rules of
// trace/page_run.h: for those who play events as they are, and let other CPUs
// in between runs only.
#ifndef LOOKASIDE_TRACE_RUN_LENGTH_H_
#define LOOKASIDE_TRACE_RUN_LENGTH_H_

#include <cstddef>
#include <span>

#include "lookaside/trace/trace_event.h"

namespace lookaside {

// At least 1. A run also ends where `events` do.
// REQUIRES: accesses of one thread, and at least one.
size_t RunLength(std::span<const TraceEvent> events);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_RUN_LENGTH_H_
