// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/cards_report.h"

#include <fmt/format.h>

#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/report/json_text.h"
#include "lookaside/report/result_json.h"
#include "lookaside/report/result_to_json.h"
#include "lookaside/report/text_table.h"
#include "lookaside/report/version.h"
#include "lookaside/report/wrap_text.h"

namespace lookaside {
namespace {

std::string VerdictText(const CardRow& row) {
  if (row.depends_on.empty()) return row.verdict;
  return "depends on " + row.depends_on;
}

std::string HeldText(const CardTable& card, const CardRow& row) {
  if (row.verdict == "training" || card.draws == 0) return "-";
  return fmt::format("{} of {}", row.held, card.draws);
}

// What the verdicts rest on.
std::string PredicateLines(const CardTable& card) {
  std::string text;
  for (const CardRow& row : card.rows) {
    if (row.predicate.empty()) continue;
    text += WrapText(text.empty() ? "must hold " : "          ",
                     row.name + ": " + row.predicate);
  }
  return text.empty() ? text : "\n" + text;
}

std::string CardText(const CardTable& card) {
  TextTable table({"figure", "published", "simulated", "verdict", "held in"});
  for (const CardRow& row : card.rows) {
    table.AddRow({row.name, row.published, row.simulated, VerdictText(row),
                  HeldText(card, row)});
  }
  return WrapText("card " + card.id + "    ", card.title) +
         WrapText("source    ", card.source) + "\n" + table.ToString() +
         PredicateLines(card);
}

Json RowToJson(const CardRow& row) {
  return {
      {"name", row.name},
      {"published", row.published},
      {"simulated", row.simulated},
      {"verdict", row.verdict},
      {"depends_on", row.depends_on.empty() ? Json() : Json(row.depends_on)},
      {"held", row.held},
      {"predicate", row.predicate.empty() ? Json() : Json(row.predicate)}};
}

Json CardToJson(const CardTable& card) {
  Json rows = Json::array();
  for (const CardRow& row : card.rows) {
    rows.push_back(RowToJson(row));
  }
  return {{"id", card.id},
          {"title", card.title},
          {"source", card.source},
          {"draws", card.draws},
          {"rows", std::move(rows)}};
}

}  // namespace

std::string CardsText(std::span<const CardTable> cards) {
  std::string text;
  for (const CardTable& card : cards) {
    if (!text.empty()) text += "\n";
    text += CardText(card);
  }
  return text;
}

std::string CardsJson(std::span<const CardTable> cards, uint64_t seed,
                      const HostInfo& host) {
  Json all = Json::array();
  for (const CardTable& card : cards) all.push_back(CardToJson(card));
  return JsonText({{"schema_version", kSchemaVersion},
                   {"tool", {{"name", "lookaside"}, {"version", kVersion}}},
                   {"seed", seed},
                   {"cards", std::move(all)},
                   {"host", HostToJson(host)}});
}

absl::StatusOr<VerdictsByRow> ParseVerdicts(std::string_view json) {
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object()) return InvalidArgument("not a JSON object");
  VerdictsByRow verdicts;
  for (const auto& [card, rows] : root.items()) {
    if (!rows.is_object()) {
      return InvalidArgument("{}: expected an object of rows", card);
    }
    for (const auto& [row, verdict] : rows.items()) {
      if (!verdict.is_string()) {
        return InvalidArgument("{}, \"{}\": expected a verdict", card, row);
      }
      verdicts[card][row] = verdict.get<std::string>();
    }
  }
  return verdicts;
}

}  // namespace lookaside
