// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "lookaside/report/format_number.h"
#include "lookaside/report/json_text.h"
#include "lookaside/report/result_csv.h"
#include "lookaside/report/result_json.h"
#include "lookaside/report/result_to_json.h"
#include "lookaside/report/sweep_costs.h"
#include "lookaside/report/text_table.h"
#include "lookaside/report/version.h"
#include "lookaside/report/wrap_text.h"

namespace lookaside {
namespace {

uint64_t CyclesOf(const RunResult& result) {
  return result.totals.cycles.Total().value();
}

// "8.3 %" above the best.
std::string AboveBest(uint64_t cycles, uint64_t least) {
  return cycles == least ? "best" : "+" + Percent(cycles - least, least);
}

std::string PointTable(const SweepTable& table) {
  std::vector<std::string> headings = table.keys;
  for (const char* heading :
       {"cycles", "refill", "flush", "wait", "against best"}) {
    headings.emplace_back(heading);
  }
  TextTable text(headings);
  const uint64_t least = CyclesOf(table.results[BestPoints(table).front()]);
  for (size_t i = 0; i < table.results.size(); ++i) {
    const CostLedger& cycles = table.results[i].totals.cycles;
    std::vector<std::string> row = table.values[i];
    row.push_back(Grouped(cycles.Total().value()));
    row.push_back(Grouped(RefillCost(cycles).value()));
    row.push_back(Grouped(FlushCost(cycles).value()));
    row.push_back(Grouped(WaitCost(cycles).value()));
    row.push_back(AboveBest(CyclesOf(table.results[i]), least));
    text.AddRow(std::move(row));
  }
  return text.ToString();
}

std::string PointName(const SweepTable& table, size_t point) {
  std::string name;
  for (size_t i = 0; i < table.keys.size(); ++i) {
    if (i > 0) name += ", ";
    name += table.keys[i] + " = " + table.values[point][i];
  }
  return name;
}

std::string BestLine(const SweepTable& table) {
  const std::vector<size_t> best = BestPoints(table);
  const uint64_t least = CyclesOf(table.results[best.front()]);
  uint64_t most = 0;
  for (const RunResult& result : table.results) {
    most = std::max(most, CyclesOf(result));
  }
  if (table.results.size() > 1 && best.size() == table.results.size()) {
    return WrapText("best      ",
                    fmt::format("none: all {} points take {} cycles",
                                table.results.size(), Grouped(least)));
  }
  std::string text = PointName(table, best.front());
  if (best.size() > 1) {
    text += fmt::format(" (and {} more that take as long)", best.size() - 1);
  }
  text += fmt::format(": {} cycles; the worst takes {} more", Grouped(least),
                      Percent(most - least, least));
  return WrapText("best      ", text);
}

std::vector<std::string> AllWarnings(const SweepTable& table) {
  std::vector<std::string> warnings;
  std::set<std::string> seen;
  for (const RunResult& result : table.results) {
    for (const std::string& warning : result.warnings) {
      if (seen.insert(warning).second) warnings.push_back(warning);
    }
  }
  return warnings;
}

Json VaryToJson(const SweepTable& table) {
  Json vary = Json::array();
  for (size_t i = 0; i < table.keys.size(); ++i) {
    Json values = Json::array();
    std::set<std::string> seen;
    for (const std::vector<std::string>& point : table.values) {
      if (seen.insert(point[i]).second) values.push_back(point[i]);
    }
    vary.push_back({{"key", table.keys[i]}, {"values", std::move(values)}});
  }
  return vary;
}

Json SetToJson(const SweepTable& table, size_t point) {
  Json set = Json::object();
  for (size_t i = 0; i < table.keys.size(); ++i) {
    set[table.keys[i]] = table.values[point][i];
  }
  return set;
}

}  // namespace

std::vector<size_t> BestPoints(const SweepTable& table) {
  uint64_t least = ~uint64_t{0};
  for (const RunResult& result : table.results) {
    least = std::min(least, CyclesOf(result));
  }
  std::vector<size_t> best;
  for (size_t i = 0; i < table.results.size(); ++i) {
    if (CyclesOf(table.results[i]) == least) best.push_back(i);
  }
  return best;
}

std::string SweepTableText(const SweepTable& table) {
  return PointTable(table);
}

std::string SweepText(const SweepTable& table, std::string_view machine) {
  std::string text;
  for (const TraceInfo& trace : table.results.front().traces) {
    text += WrapText("trace     ",
                     fmt::format("{} ({}), {} accesses", trace.name,
                                 trace.format, Grouped(trace.accesses)));
  }
  text += WrapText("machine   ", machine);
  text += WrapText("points    ", fmt::format("{}, of {} that can differ",
                                             table.values.size(), table.lanes));
  text += "\n" + PointTable(table) + "\n" + BestLine(table);
  for (const std::string& warning : AllWarnings(table)) {
    text += WrapText("warning   ", warning);
  }
  return text;
}

std::string SweepJson(const SweepTable& table, const HostInfo& host) {
  Json points = Json::array();
  for (size_t i = 0; i < table.results.size(); ++i) {
    points.push_back({{"set", SetToJson(table, i)},
                      {"result", ResultToJson(table.results[i])}});
  }
  Json best = Json::array();
  for (const size_t point : BestPoints(table)) best.push_back(point);
  return JsonText({{"schema_version", kSchemaVersion},
                   {"tool", {{"name", "lookaside"}, {"version", kVersion}}},
                   {"vary", VaryToJson(table)},
                   {"points", std::move(points)},
                   {"best", std::move(best)},
                   {"lanes", table.lanes},
                   {"warnings", AllWarnings(table)},
                   {"host", HostToJson(host)}});
}

std::string SweepCsv(const SweepTable& table) {
  return ResultsCsv(table.results, {table.keys, table.values});
}

}  // namespace lookaside
