// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/output.h"
#include "lookaside/cli/progress.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/report/cards_report.h"
#include "lookaside/report/host_info.h"
#include "lookaside/reproduce/cards.h"
#include "lookaside/reproduce/verdict.h"

namespace lookaside {
namespace {

CardTable TableOf(const JudgedCard& card) {
  CardTable table{.id = card.id,
                  .title = card.title,
                  .source = card.source,
                  .draws = card.draws,
                  .rows = {}};
  for (const JudgedFigure& figure : card.figures) {
    table.rows.push_back({figure.name, figure.published, figure.simulated,
                          std::string(Name(figure.verdict)), figure.depends_on,
                          figure.held, figure.predicate});
  }
  return table;
}

// The result is good, but not what was hoped for.
absl::Status Report(const std::vector<std::string>& shortfalls) {
  if (shortfalls.empty()) return absl::OkStatus();
  std::string text;
  for (const std::string& shortfall : shortfalls) {
    text += (text.empty() ? "" : "; ") + shortfall;
  }
  return absl::AbortedError(text);
}

}  // namespace

absl::Status RunReproduce(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(CheckResultFiles(arguments));
  LOOKASIDE_ASSIGN_OR_RETURN(const std::vector<Card> cards,
                             CardsOf(arguments.cards));
  Progress progress;
  std::vector<JudgedCard> judged;
  std::vector<CardTable> tables;
  for (const Card& card : cards) {
    LOOKASIDE_ASSIGN_OR_RETURN(
        JudgedCard one,
        Judge(card, {.seed = arguments.seed, .jobs = JobsOf(arguments)}));
    tables.push_back(TableOf(one));
    judged.push_back(std::move(one));
  }
  if (!arguments.json.empty()) {
    LOOKASIDE_RETURN_IF_ERROR(WriteResultFile(
        arguments.json,
        CardsJson(tables, arguments.seed, MeasureHost(0, progress.seconds()))));
  }
  if (!TakesStandardOutput(arguments)) {
    LOOKASIDE_RETURN_IF_ERROR(WriteStandardOutput(CardsText(tables)));
  }
  return Report(Shortfalls(judged, RecordedVerdicts(), arguments.strict));
}

}  // namespace lookaside
