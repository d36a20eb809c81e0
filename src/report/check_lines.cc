// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/check_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lookaside/report/format_number.h"
#include "lookaside/report/wrap_text.h"

namespace lookaside {
namespace {

constexpr size_t kMostExamples = 4;

std::string Summary(const CheckCounters& checks) {
  const uint64_t violations = checks.violations();
  if (violations == 0) return "no violation";
  std::string text = Counted(violations, "violation", "violations");
  for (size_t i = 0; i < kChecks; ++i) {
    if (checks.by_check[i] == 0) continue;
    text += fmt::format(", {} of {}", Grouped(checks.by_check[i]),
                        Name(static_cast<Check>(i)));
  }
  return text;
}

std::string ExampleLine(const CheckExample& example) {
  return WrapText(
      fmt::format("  {:<8}", Name(example.check)),
      fmt::format("cpu {}, address {:#x}, {} cycles after {} changed it",
                  example.cpu.value(), StartOf(example.page).value(),
                  Grouped(example.age.value()), example.operation));
}

}  // namespace

std::string CheckLines(const CheckCounters& checks) {
  std::string text = Summary(checks);
  if (checks.exposed > 0) {
    text += fmt::format("; {} exposed", Grouped(checks.exposed));
  }
  text = WrapText("checks    ", text);
  const size_t shown = std::min(checks.examples.size(), kMostExamples);
  for (size_t i = 0; i < shown; ++i) text += ExampleLine(checks.examples[i]);
  return text;
}

}  // namespace lookaside
