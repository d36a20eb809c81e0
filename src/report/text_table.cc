// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/text_table.h"

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"

namespace lookaside {

TextTable::TextTable(std::vector<std::string> headings)
    : rows_{std::move(headings)} {}

void TextTable::AddRow(std::vector<std::string> cells) {
  LOOKASIDE_CHECK(cells.size() == rows_.front().size());
  rows_.push_back(std::move(cells));
}

void TextTable::Append(const std::vector<std::string>& row,
                       const std::vector<size_t>& widths,
                       std::string& text) const {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string blanks(widths[i] - row[i].size(), ' ');
    line += "  ";
    line += i == 0 ? row[i] + blanks : blanks + row[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  if (!line.empty()) text += line + "\n";
}

std::string TextTable::ToString() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) Append(row, widths, text);
  return text;
}

}  // namespace lookaside
