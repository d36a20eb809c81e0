// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_REPORT_WRAP_TEXT_H_
#define LOOKASIDE_REPORT_WRAP_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace lookaside {

// The width of reports, in columns.
inline constexpr size_t kReportColumns = 100;

// `first` and then `text`, broken between words so that lines fit
// kReportColumns; further lines begin with as many blanks as `first` is long.
// A word that is too long stays whole. Ends with a newline. `text` may hold
// names that a user gave: see base/printable.h.
std::string WrapText(std::string_view first, std::string_view text);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_WRAP_TEXT_H_
