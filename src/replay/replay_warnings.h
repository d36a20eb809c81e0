// SPDX-License-Identifier: Apache-2.0
//
// What of a trace was not simulated as it had been, in sentences.
#ifndef LOOKASIDE_REPLAY_REPLAY_WARNINGS_H_
#define LOOKASIDE_REPLAY_REPLAY_WARNINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lookaside/config/replay_config.h"
#include "lookaside/kernel/kernel_state.h"
#include "lookaside/replay/call_counts.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct ReplayedTrace {
  TraceInfo info;
  CallCounts calls;
};

// Of all traces in their order; each sentence says which trace, if there are
// several. `timed`: they were replayed in timed order.
std::vector<std::string> WarningsOf(const std::vector<ReplayedTrace>& traces,
                                    ReplayOperations operations, bool timed);

// Of what programs touched outside every known mapping.
std::vector<std::string> WarningsOf(const UnknownMappings& unknown,
                                    size_t traces);

// Of a warm-up that took all `accesses` of `traces` traces.
std::string WholeWarmup(uint64_t warmup, uint64_t accesses, size_t traces);

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_REPLAY_WARNINGS_H_
