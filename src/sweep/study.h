// SPDX-License-Identifier: Apache-2.0
//
// A sweep with what one needs to judge it by, in the same pass over the trace:
//
// - the bound of each point: the same kernel and machine, never flushing
//   everything, and charged for each flush the cheaper of its pages and one
//   write of CR3 (kernel.flush.policy = bound). It is proven to be no more
//   than any policy that acknowledges after the flush costs where translations
//   of one tag have a TLB of one LRU level to themselves and every refill
//   costs the same (cost.refill_ns): what stays cached is then never worth
//   less. Elsewhere it is told by hindsight: a full flush can leave room for
//   what is needed more.
// - the best points at both ends of what is unsure and could turn the answer
//   around: kUnsureKeys.
//
// Both are made where a key of the kernel is varied: that is the question they
// are for. In timed order the bound is hindsight.
#ifndef LOOKASIDE_SWEEP_STUDY_H_
#define LOOKASIDE_SWEEP_STUDY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/base/cycles.h"
#include "lookaside/config/loaded_config.h"
#include "lookaside/replay/run_result.h"
#include "lookaside/sweep/sweep.h"
#include "lookaside/sweep/vary.h"

namespace lookaside {

// A key that no source settles, with the ends of its range.
struct UnsureKey {
  std::string_view key;
  std::string_view low;
  std::string_view high;
};
inline constexpr UnsureKey kUnsureKeys[] = {
    {"walk.overlap", "0", "1"},
    {"walk.data_pressure", "0", "1"},
    {"kernel.footprint", "0", "32"},
};

struct PolicyBound {
  Cycles cycles;
  bool proven = false;  // else told by hindsight
};

struct UnsureEnd {
  std::string key;
  std::string value;
  std::vector<RunResult> results;  // as the points
};

struct Study {
  std::vector<SweepPoint> points;
  SweepResult sweep;                // of the points alone
  std::vector<PolicyBound> bounds;  // as the points, or empty
  std::vector<UnsureEnd> ends;
};

// `run`: RunSweep, of some trace. Errors: those of MakeGrid and of `run`.
using SweepRunner =
    std::function<absl::StatusOr<SweepResult>(std::span<const SweepPoint>)>;
absl::StatusOr<Study> RunStudy(const LoadedConfig& base,
                               std::span<const Vary> varies,
                               const SweepRunner& run);

}  // namespace lookaside

#endif  // LOOKASIDE_SWEEP_STUDY_H_
