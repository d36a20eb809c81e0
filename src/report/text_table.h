// SPDX-License-Identifier: Apache-2.0
//
// A table of text with aligned columns.
//
//   TextTable table({"array", "lookups"});
//   table.AddRow({"stlb", "1,024"});
//   text += table.ToString();
#ifndef LOOKASIDE_REPORT_TEXT_TABLE_H_
#define LOOKASIDE_REPORT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace lookaside {

class TextTable {
 public:
  // No line of headings where all of them are empty.
  explicit TextTable(std::vector<std::string> headings);

  // REQUIRES: as many cells as headings.
  void AddRow(std::vector<std::string> cells);

  // The first column is aligned to the left, the others to the right; two
  // blanks before each. Every line ends with a newline and not with a blank.
  std::string ToString() const;

 private:
  void Append(const std::vector<std::string>& row,
              const std::vector<size_t>& widths, std::string& text) const;

  std::vector<std::vector<std::string>> rows_;  // headings first
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_TEXT_TABLE_H_
