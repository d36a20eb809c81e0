// SPDX-License-Identifier: Apache-2.0
//
// What a replay counted since an earlier moment of it.
#ifndef LOOKASIDE_REPLAY_SINCE_H_
#define LOOKASIDE_REPLAY_SINCE_H_

#include <optional>

#include "lookaside/base/cycles.h"
#include "lookaside/replay/run_result.h"

namespace lookaside {

// `result` less what had been counted at `start`. Elapsed time is that of each
// clock since then; since `time` where that is given, because clocks that were
// behind it have idled up to it.
RunResult Since(RunResult result, const RunResult& start,
                std::optional<Cycles> time = std::nullopt);

}  // namespace lookaside

#endif  // LOOKASIDE_REPLAY_SINCE_H_
