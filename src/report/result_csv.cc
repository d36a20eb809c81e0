// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/result_csv.h"

#include <map>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/report/json_text.h"
#include "lookaside/report/result_to_json.h"

namespace lookaside {
namespace {

using Cells = std::vector<std::pair<std::string, std::string>>;

void Flatten(const std::string& name, const Json& json, Cells& cells) {
  if (!json.is_object()) {
    cells.emplace_back(name, json.dump());
    return;
  }
  for (const auto& [key, value] : json.items()) {
    Flatten(name + "." + key, value, cells);
  }
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + "\"";
}

void AddLine(const std::vector<std::string>& cells, std::string& csv) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) csv += ',';
    csv += Quoted(cells[i]);
  }
  csv += '\n';
}

// The names in the order in which they first appear.
std::vector<std::string> NamesOf(const std::vector<Cells>& rows) {
  std::vector<std::string> names;
  std::map<std::string, bool> seen;
  for (const Cells& cells : rows) {
    for (const auto& [name, value] : cells) {
      if (seen.emplace(name, true).second) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

std::string ResultsCsv(std::span<const RunResult> results,
                       const CsvColumns& columns) {
  LOOKASIDE_CHECK(columns.names.empty() ||
                  columns.rows.size() == results.size());
  std::vector<Cells> rows;
  for (const RunResult& result : results) {
    Cells cells;
    Flatten("totals", ResultToJson(result)["totals"], cells);
    rows.push_back(std::move(cells));
  }
  const std::vector<std::string> names = NamesOf(rows);
  std::vector<std::string> line = columns.names;
  line.insert(line.end(), names.begin(), names.end());
  std::string csv;
  AddLine(line, csv);
  for (size_t i = 0; i < rows.size(); ++i) {
    line = columns.names.empty() ? std::vector<std::string>() : columns.rows[i];
    const std::map<std::string, std::string> values(rows[i].begin(),
                                                    rows[i].end());
    for (const std::string& name : names) {
      const auto found = values.find(name);
      line.push_back(found == values.end() ? "" : found->second);
    }
    AddLine(line, csv);
  }
  return csv;
}

}  // namespace lookaside
