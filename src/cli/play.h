// SPDX-License-Identifier: Apache-2.0
//
// One replay, with progress on the terminal and what it took of the host.
#ifndef LOOKASIDE_CLI_PLAY_H_
#define LOOKASIDE_CLI_PLAY_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "lookaside/config/sim_config.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/report/host_info.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

struct Replayed {
  RunResult result;
  HostInfo host;
};

// Several readers are several processes.
absl::StatusOr<Replayed> Play(const SimConfig& config, uint64_t seed,
                              std::span<TraceReader* const> readers);

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_PLAY_H_
