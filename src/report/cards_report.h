// SPDX-License-Identifier: Apache-2.0
//
// Published figures beside the simulated ones, for people and for programs.
// docs/result_json.md tells the keys of the JSON.
#ifndef LOOKASIDE_REPORT_CARDS_REPORT_H_
#define LOOKASIDE_REPORT_CARDS_REPORT_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/report/host_info.h"

namespace lookaside {

struct CardRow {
  std::string name;
  std::string published;
  std::string simulated;
  std::string verdict;      // robust, depends, miss, training
  std::string depends_on;   // the input that decides, if one does
  uint64_t held = 0;        // draws in which what was published came out
  std::string predicate{};  // that decides; "" of a training row
};

struct CardTable {
  std::string id;
  std::string title;
  std::string source;
  uint64_t draws = 0;
  std::vector<CardRow> rows;
};

std::string CardsText(std::span<const CardTable> cards);

std::string CardsJson(std::span<const CardTable> cards, uint64_t seed,
                      const HostInfo& host);

// Verdicts by card and row, as validation/expected.json has them:
// {"C": {"row": "robust"}}. An error says what of it is wrong.
using VerdictsByRow = std::map<std::string, std::map<std::string, std::string>>;
absl::StatusOr<VerdictsByRow> ParseVerdicts(std::string_view json);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_CARDS_REPORT_H_
