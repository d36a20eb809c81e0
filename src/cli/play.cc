// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/play.h"

#include <memory>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/cli/output.h"
#include "lookaside/cli/progress.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/replay/simulation.h"

namespace lookaside {

absl::StatusOr<Replayed> Play(const SimConfig& config, uint64_t seed,
                              std::span<TraceReader* const> readers) {
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<Simulation> simulation,
                             Simulation::Create(config, seed));
  Progress progress;
  const ReplayOptions options = {
      .progress = [&progress](uint64_t, uint64_t accesses) {
        progress.Update(accesses);
      }};
  absl::StatusOr<RunResult> result = Replay(*simulation, readers, options);
  if (!result.ok()) {
    return readers.size() == 1 ? WithTraceName(result.status(), *readers[0])
                               : result.status();
  }
  Replayed replayed{*std::move(result), {}};
  uint64_t accesses = 0;
  for (const TraceInfo& trace : replayed.result.traces) {
    accesses += trace.accesses;
  }
  replayed.host = MeasureHost(accesses, progress.seconds());
  return replayed;
}

}  // namespace lookaside
