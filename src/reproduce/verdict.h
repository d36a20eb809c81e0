// SPDX-License-Identifier: Apache-2.0
//
// How far the simulator gives a published figure.
#ifndef LOOKASIDE_REPRODUCE_VERDICT_H_
#define LOOKASIDE_REPRODUCE_VERDICT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/reproduce/card.h"

namespace lookaside {

// From worst to best.
enum class Verdict : uint8_t {
  kMiss,      // in fewer than a tenth of the draws, or at the defaults alone
  kDepends,   // in between: one input decides
  kRobust,    // at the defaults and in nine tenths of the draws or more
  kTraining,  // not scored
};
constexpr std::string_view Name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"miss", "depends", "robust",
                                         "training"};
  return kNames[static_cast<size_t>(verdict)];
}

struct JudgedFigure {
  std::string name;
  std::string published;
  std::string simulated;  // at the defaults
  Verdict verdict = Verdict::kMiss;
  std::string depends_on;  // the input that decides; empty unless kDepends
  std::string predicate;   // that was judged; empty if kTraining
  uint64_t held = 0;       // draws in which the predicate held
};

struct JudgedCard {
  std::string id;
  std::string title;
  std::string source;
  uint64_t draws = 0;
  std::vector<JudgedFigure> figures;
};

struct JudgeOptions {
  uint64_t seed = 0;
  uint64_t draws = 200;
  unsigned jobs = 1;  // host threads
};

// The same for any number of host threads. Errors: those of the simulation.
absl::StatusOr<JudgedCard> Judge(const Card& card, const JudgeOptions& options);

// The values of draw `number`, from 1; 0 has the defaults.
std::vector<uint64_t> ValuesOfDraw(const Card& card, uint64_t seed,
                                   uint64_t number);

}  // namespace lookaside

#endif  // LOOKASIDE_REPRODUCE_VERDICT_H_
