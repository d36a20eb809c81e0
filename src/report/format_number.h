// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them.
#ifndef LOOKASIDE_REPORT_FORMAT_NUMBER_H_
#define LOOKASIDE_REPORT_FORMAT_NUMBER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace lookaside {

// 1234567 as "1,234,567".
std::string Grouped(uint64_t number);

// "1 load", "1,234 loads".
std::string Counted(uint64_t number, std::string_view one,
                    std::string_view several);

// part / whole: "12.34 %", "0.0012 %", "0 %"; "-" where whole is 0. At least
// two significant digits, so that a rare event does not look like none; from
// 1000 % on whole per cents.
std::string Percent(uint64_t part, uint64_t whole);

// part / whole: "1.70", "0.0012", "0"; "-" where whole is 0.
std::string Ratio(double part, uint64_t whole);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_FORMAT_NUMBER_H_
