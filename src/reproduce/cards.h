// SPDX-License-Identifier: Apache-2.0
//
// The published experiments that can be simulated, and what verdict each
// figure had when it was last recorded (validation/expected.json).
#ifndef LOOKASIDE_REPRODUCE_CARDS_H_
#define LOOKASIDE_REPRODUCE_CARDS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lookaside/reproduce/card.h"
#include "lookaside/reproduce/verdict.h"

namespace lookaside {

// In the order of their letters.
std::vector<Card> AllCards();

// Those of these letters, or all if none is named. An error lists the letters.
absl::StatusOr<std::vector<Card>> CardsOf(std::span<const std::string> ids);

// By card and figure.
using ExpectedVerdicts = std::map<std::string, std::map<std::string, Verdict>>;

// Of a file like validation/expected.json: {"C": {"figure": "robust"}}. An
// error says what of it is wrong.
absl::StatusOr<ExpectedVerdicts> ParseExpected(std::string_view json);

// The recorded ones, which are part of the program.
ExpectedVerdicts RecordedVerdicts();

// What is worse than recorded or, where `strict`, missed: one line each. A
// figure that was never recorded cannot be worse.
std::vector<std::string> Shortfalls(std::span<const JudgedCard> cards,
                                    const ExpectedVerdicts& expected,
                                    bool strict);

}  // namespace lookaside

#endif  // LOOKASIDE_REPRODUCE_CARDS_H_
