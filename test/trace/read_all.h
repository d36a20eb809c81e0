// SPDX-License-Identifier: Apache-2.0
//
// All that a trace holds, for tests.
#ifndef LOOKASIDE_TEST_TRACE_READ_ALL_H_
#define LOOKASIDE_TEST_TRACE_READ_ALL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/trace/memory_call.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct WholeTrace {
  std::vector<TraceEvent> events;  // calls are numbered through
  std::vector<MemoryCall> calls;
  std::string error;  // empty if there is none
  TraceInfo info;

  // How many records of that kind were skipped.
  uint64_t Skipped(const std::string& kind) const;
  // Whether a warning has that in it.
  bool Warns(const std::string& text) const;
};

// `buffer`: events of a Read.
WholeTrace ReadAll(absl::StatusOr<std::unique_ptr<TraceReader>> reader,
                   size_t buffer = 3);

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_TRACE_READ_ALL_H_
