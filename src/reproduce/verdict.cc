// SPDX-License-Identifier: Apache-2.0
#include "lookaside/reproduce/verdict.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/host_threads.h"
#include "lookaside/base/rng.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

struct Draw {
  std::vector<uint64_t> values;
  std::optional<absl::StatusOr<Measured>> measured;
};

// The defaults, then the draws.
absl::StatusOr<std::vector<Draw>> Simulate(const Card& card,
                                           const JudgeOptions& options) {
  std::vector<Draw> draws(options.draws + 1);
  HostThreads threads(std::max(options.jobs, 1u));
  threads.ForEach(draws.size(), [&](size_t i) {
    draws[i].values = ValuesOfDraw(card, options.seed, i);
    draws[i].measured = card.simulate(draws[i].values, options.seed);
  });
  for (const Draw& draw : draws) {
    if (!draw.measured->ok()) return draw.measured->status();
  }
  return draws;
}

// How well the input tells the draws that hold from those that do not: the
// chance that one of the first has the larger value than one of the second,
// as a distance from a half (Mann and Whitney).
double Separation(const std::vector<Draw>& draws,
                  const std::vector<bool>& holds, size_t input) {
  double larger = 0;
  double pairs = 0;
  for (size_t i = 1; i < draws.size(); ++i) {
    if (!holds[i]) continue;
    for (size_t j = 1; j < draws.size(); ++j) {
      if (holds[j]) continue;
      const uint64_t a = draws[i].values[input];
      const uint64_t b = draws[j].values[input];
      larger += a > b ? 1.0 : a == b ? 0.5 : 0.0;
      pairs += 1;
    }
  }
  return pairs == 0 ? 0 : std::abs(larger / pairs - 0.5);
}

std::string DecidingInput(const Card& card, const std::vector<Draw>& draws,
                          const std::vector<bool>& holds) {
  std::string deciding;
  double most = -1;
  for (size_t input = 0; input < card.inputs.size(); ++input) {
    const double separation = Separation(draws, holds, input);
    if (separation <= most) continue;
    most = separation;
    deciding = card.inputs[input].name;
  }
  return deciding;
}

Verdict VerdictOf(bool at_defaults, uint64_t held, uint64_t draws) {
  if (draws == 0) return at_defaults ? Verdict::kRobust : Verdict::kMiss;
  if (at_defaults && held * 10 >= draws * 9) return Verdict::kRobust;
  return held * 10 < draws ? Verdict::kMiss : Verdict::kDepends;
}

JudgedFigure JudgeFigure(const Card& card, const Figure& figure,
                         const std::vector<Draw>& draws) {
  JudgedFigure judged{.name = figure.name,
                      .published = figure.published,
                      .simulated = figure.show(**draws[0].measured),
                      .depends_on = {},
                      .predicate = figure.predicate};
  if (!figure.holds) {
    judged.verdict = Verdict::kTraining;
    return judged;
  }
  std::vector<bool> holds;
  for (const Draw& draw : draws) holds.push_back(figure.holds(**draw.measured));
  judged.held =
      static_cast<uint64_t>(std::count(holds.begin() + 1, holds.end(), true));
  judged.verdict = VerdictOf(holds[0], judged.held, draws.size() - 1);
  if (judged.verdict == Verdict::kDepends) {
    judged.depends_on = DecidingInput(card, draws, holds);
  }
  return judged;
}

}  // namespace

std::vector<uint64_t> ValuesOfDraw(const Card& card, uint64_t seed,
                                   uint64_t number) {
  std::vector<uint64_t> values;
  Rng rng(seed * 1'000'003 + number);
  for (const UnsettledInput& input : card.inputs) {
    LOOKASIDE_CHECK(input.low <= input.usual && input.usual <= input.high);
    const uint64_t drawn = input.low + rng.Below(input.high - input.low + 1);
    values.push_back(number == 0 ? input.usual : drawn);
  }
  return values;
}

absl::StatusOr<JudgedCard> Judge(const Card& card,
                                 const JudgeOptions& options) {
  JudgeOptions chosen = options;
  // Nothing to draw from: one simulation tells all.
  if (card.inputs.empty()) chosen.draws = 0;
  LOOKASIDE_ASSIGN_OR_RETURN(const std::vector<Draw> draws,
                             Simulate(card, chosen));
  JudgedCard judged{.id = card.id,
                    .title = card.title,
                    .source = card.source,
                    .draws = chosen.draws,
                    .figures = {}};
  for (const Figure& figure : card.figures) {
    judged.figures.push_back(JudgeFigure(card, figure, draws));
  }
  return judged;
}

}  // namespace lookaside
