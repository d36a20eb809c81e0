// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/wrap_text.h"

#include "lookaside/base/printable.h"

namespace lookaside {

std::string WrapText(std::string_view first, std::string_view unclean) {
  const std::string clean = Printable(unclean);
  std::string_view text = clean;
  std::string wrapped(first);
  size_t column = first.size();
  bool line_has_word = false;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() == text.size() ? text.size()
                                                  : word.size() + 1);
    if (word.empty()) continue;
    if (line_has_word && column + 1 + word.size() > kReportColumns) {
      wrapped += "\n" + std::string(first.size(), ' ');
      column = first.size();
      line_has_word = false;
    }
    if (line_has_word) wrapped += ' ';
    column += word.size() + (line_has_word ? 1 : 0);
    wrapped += word;
    line_has_word = true;
  }
  return wrapped + "\n";
}

}  // namespace lookaside
