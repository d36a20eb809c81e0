// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "lookaside/kernel/kernel_config.h"
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
  if (cycles == least) return "best";
  if (cycles < least) return "-" + Percent(least - cycles, least);
  if (least == 0) return "-";  // nothing was counted there
  return "+" + Percent(cycles - least, least);
}

// Of the point; below it, where the bound is hindsight and was beaten.
std::string AboveBound(const SweepTable& table, size_t point) {
  const uint64_t cycles = CyclesOf(table.results[point]);
  const uint64_t bound = table.bounds[point].cycles.value();
  if (cycles == bound) return "0 %";
  if (cycles < bound) return "-" + Percent(bound - cycles, bound);
  return "+" + Percent(cycles - bound, bound);
}

std::string PointTable(const SweepTable& table) {
  std::vector<std::string> headings = table.keys;
  for (const char* heading :
       {"cycles", "refill", "flush", "wait", "against best"}) {
    headings.emplace_back(heading);
  }
  if (!table.bounds.empty()) headings.emplace_back("above bound");
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
    if (!table.bounds.empty()) row.push_back(AboveBound(table, i));
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
  text += fmt::format(": {} cycles", Grouped(least));
  if (most > least) {
    text +=
        fmt::format("; the worst takes {} more", Percent(most - least, least));
  }
  return WrapText("best      ", text);
}

// The lowest, and whether all are proven.
SweepBound LowestBound(const SweepTable& table) {
  SweepBound lowest = table.bounds.front();
  for (const SweepBound& bound : table.bounds) {
    lowest.cycles = std::min(lowest.cycles, bound.cycles);
    lowest.proven = lowest.proven && bound.proven;
  }
  return lowest;
}

const char* KindOf(const SweepBound& bound) {
  return bound.proven ? "proven" : "hindsight";
}

std::string BoundLine(const SweepTable& table) {
  if (table.bounds.empty()) return "";
  const SweepBound bound = LowestBound(table);
  return WrapText(
      "bound     ",
      fmt::format("{} cycles ({}): never everything, and each flush at the "
                  "cheaper of its pages and one write of CR3",
                  Grouped(bound.cycles.value()), KindOf(bound)));
}

bool IsYardstick(const RunResult& result) {
  const FlushPolicyKind policy = result.config.kernel.flush_policy;
  return policy == FlushPolicyKind::kBound ||
         policy == FlushPolicyKind::kClairvoyant;
}

// The points that are no mere yardsticks, as long as there are others.
std::vector<size_t> LeastOf(const SweepTable& table,
                            std::span<const Cycles> cycles) {
  std::vector<size_t> points;
  const bool all = std::ranges::all_of(table.results, &IsYardstick);
  for (size_t i = 0; i < cycles.size(); ++i) {
    if (!all && IsYardstick(table.results[i])) continue;
    if (!points.empty() && cycles[i] > cycles[points[0]]) continue;
    if (!points.empty() && cycles[i] < cycles[points[0]]) points.clear();
    points.push_back(i);
  }
  return points;
}

// "kernel.flush.ceiling = 2 and 3 more".
std::string PointNames(const SweepTable& table,
                       const std::vector<size_t>& points) {
  if (points.size() == table.values.size() && points.size() > 1) {
    return "every point alike";
  }
  std::string names = PointName(table, points.front());
  if (points.size() > 1)
    names += fmt::format(" and {} more", points.size() - 1);
  return names;
}

std::string EndLines(const SweepTable& table) {
  std::string text;
  for (const SweepEnd& end : table.ends) {
    text +=
        WrapText("best at   ",
                 fmt::format("{} = {}: {}", end.key, end.value,
                             PointNames(table, LeastOf(table, end.cycles))));
  }
  return text;
}

bool VariesFlushes(const SweepTable& table) {
  return std::ranges::all_of(table.keys, [](const std::string& key) {
    return key.starts_with("kernel.flush.");
  });
}

// Where the trace cannot answer the question.
std::string AnswerLine(const SweepTable& table) {
  const bool flushes =
      std::ranges::any_of(table.results, [](const RunResult& result) {
        return result.totals.flushes.requests > 0;
      });
  if (flushes || !VariesFlushes(table)) return "";
  return WrapText("note      ",
                  "nothing in this trace makes the kernel flush (no munmap, "
                  "mprotect or other such call): every policy ties. Record "
                  "with valgrind --tool=lackey --trace-mem=yes "
                  "--trace-syscalls=yes.");
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

size_t CountLanes(const SweepTable& table) {
  return std::set<size_t>(table.lanes.begin(), table.lanes.end()).size();
}

Json BoundToJson(const SweepTable& table) {
  if (table.bounds.empty()) return {};
  return LowestBound(table).cycles.value();
}

Json EndsToJson(const SweepTable& table) {
  Json ends = Json::array();
  for (const SweepEnd& end : table.ends) {
    ends.push_back({{"set", {{end.key, end.value}}},
                    {"best", LeastOf(table, end.cycles)}});
  }
  return ends;
}

Json SetToJson(const SweepTable& table, size_t point) {
  Json set = Json::object();
  for (size_t i = 0; i < table.keys.size(); ++i) {
    set[table.keys[i]] = table.values[point][i];
  }
  return set;
}

Json PointToJson(const SweepTable& table, size_t point) {
  Json json = {{"set", SetToJson(table, point)},
               {"result", ResultToJson(table.results[point])}};
  if (!table.lanes.empty()) json["lane"] = table.lanes[point];
  if (!table.bounds.empty()) {
    json["bound"] = table.bounds[point].cycles.value();
  }
  return json;
}

}  // namespace

std::vector<size_t> BestPoints(const SweepTable& table) {
  std::vector<Cycles> cycles;
  for (const RunResult& result : table.results) {
    cycles.push_back(result.totals.cycles.Total());
  }
  return LeastOf(table, cycles);
}

std::string SweepTableText(const SweepTable& table) {
  return PointTable(table);
}

std::string SweepEndsText(const SweepTable& table) { return EndLines(table); }

std::string SweepText(const SweepTable& table, std::string_view machine) {
  std::string text;
  for (const TraceInfo& trace : table.results.front().traces) {
    text += WrapText("trace     ",
                     fmt::format("{} ({}), {} accesses", trace.name,
                                 trace.format, Grouped(trace.accesses)));
  }
  text += WrapText("machine   ", machine);
  text += WrapText("points    ",
                   fmt::format("{}, of which {} behaved differently",
                               table.values.size(), CountLanes(table)));
  text += "\n" + PointTable(table) + "\n" + BestLine(table) + BoundLine(table) +
          EndLines(table) + AnswerLine(table);
  for (const std::string& warning : AllWarnings(table)) {
    text += WrapText("warning   ", warning);
  }
  return text;
}

std::string SweepJson(const SweepTable& table, const HostInfo& host) {
  Json points = Json::array();
  for (size_t i = 0; i < table.results.size(); ++i) {
    points.push_back(PointToJson(table, i));
  }
  Json best = Json::array();
  for (const size_t point : BestPoints(table)) best.push_back(point);
  return JsonText(
      {{"schema_version", kSchemaVersion},
       {"tool", {{"name", "lookaside"}, {"version", kVersion}}},
       {"vary", VaryToJson(table)},
       {"points", std::move(points)},
       {"best", std::move(best)},
       {"bound", BoundToJson(table)},
       {"bound_kind",
        table.bounds.empty() ? Json() : Json(KindOf(LowestBound(table)))},
       {"ends", EndsToJson(table)},
       {"lanes", CountLanes(table)},
       {"warnings", AllWarnings(table)},
       {"host", HostToJson(host)}});
}

std::string SweepCsv(const SweepTable& table) {
  return ResultsCsv(table.results, {table.keys, table.values});
}

}  // namespace lookaside
