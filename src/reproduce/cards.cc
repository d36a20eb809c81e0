// SPDX-License-Identifier: Apache-2.0
#include "lookaside/reproduce/cards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/config/nearest.h"
#include "lookaside/report/cards_report.h"
#include "lookaside/reproduce/card_b.h"
#include "lookaside/reproduce/card_c.h"
#include "lookaside/validation/expected.h"

namespace lookaside {
namespace {

std::optional<Verdict> VerdictNamed(std::string_view name) {
  for (const Verdict verdict : {Verdict::kMiss, Verdict::kDepends,
                                Verdict::kRobust, Verdict::kTraining}) {
    if (name == Name(verdict)) return verdict;
  }
  return std::nullopt;
}

absl::Status NoCard(const std::string& id, std::span<const Card> cards) {
  std::vector<std::string> ids;
  for (const Card& card : cards) ids.push_back(card.id);
  const std::string meant = Suggest(id, ids);
  return InvalidArgument(
      "no card '{}'{} those that can be simulated are {}", id,
      meant.empty() ? ":" : fmt::format("; did you mean '{}'?", meant),
      fmt::join(ids, ", "));
}

}  // namespace

std::vector<Card> AllCards() {
  std::vector<Card> cards;
  cards.push_back(CardB());
  cards.push_back(CardC());
  return cards;
}

absl::StatusOr<std::vector<Card>> CardsOf(std::span<const std::string> ids) {
  std::vector<Card> all = AllCards();
  if (ids.empty()) return all;
  std::vector<Card> chosen;
  for (const std::string& id : ids) {
    const auto card = std::ranges::find(all, id, &Card::id);
    if (card == all.end()) {
      return NoCard(id, all);
    }
    if (std::ranges::find(chosen, id, &Card::id) != chosen.end()) {
      return InvalidArgument("card '{}' is named twice", id);
    }
    chosen.push_back(*card);
  }
  return chosen;
}

absl::StatusOr<ExpectedVerdicts> ParseExpected(std::string_view json) {
  LOOKASIDE_ASSIGN_OR_RETURN(const VerdictsByRow names, ParseVerdicts(json));
  ExpectedVerdicts expected;
  for (const auto& [card, figures] : names) {
    for (const auto& [figure, name] : figures) {
      const std::optional<Verdict> verdict = VerdictNamed(name);
      if (!verdict) {
        return InvalidArgument(
            "{}, \"{}\": '{}': expected miss, depends, robust or training",
            card, figure, name);
      }
      expected[card][figure] = *verdict;
    }
  }
  return expected;
}

ExpectedVerdicts RecordedVerdicts() {
  absl::StatusOr<ExpectedVerdicts> recorded =
      ParseExpected(Expected().front().contents);
  LOOKASIDE_CHECK(recorded.ok());
  return *std::move(recorded);
}

std::vector<std::string> Shortfalls(std::span<const JudgedCard> cards,
                                    const ExpectedVerdicts& expected,
                                    bool strict) {
  std::vector<std::string> shortfalls;
  for (const JudgedCard& card : cards) {
    const auto recorded = expected.find(card.id);
    for (const JudgedFigure& figure : card.figures) {
      const std::string what =
          fmt::format("{}, {}: {}", card.id, figure.name, Name(figure.verdict));
      if (strict && figure.verdict == Verdict::kMiss) {
        shortfalls.push_back(what);
        continue;
      }
      if (recorded == expected.end()) continue;
      const auto before = recorded->second.find(figure.name);
      if (before == recorded->second.end()) continue;
      if (figure.verdict >= before->second) continue;
      shortfalls.push_back(
          fmt::format("{}, recorded as {}", what, Name(before->second)));
    }
  }
  return shortfalls;
}

}  // namespace lookaside
