// SPDX-License-Identifier: Apache-2.0
//
// A published experiment that can be simulated: what was published, the inputs
// that no source settles, and predicates that say what of it must come out.
//
// A card is judged, not fitted: at the defaults, and over seeded draws from
// the ranges of the unsettled inputs. Inputs that a card calibrates are fitted
// on rows marked as training, which are never scored.
#ifndef LOOKASIDE_REPRODUCE_CARD_H_
#define LOOKASIDE_REPRODUCE_CARD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace lookaside {

// An input with a range and no source that settles it: a configuration key, or
// a name that the card knows.
struct UnsettledInput {
  std::string name;
  uint64_t usual = 0;  // the default
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const UnsettledInput&,
                         const UnsettledInput&) = default;
};

// What one simulation of the experiment measured. What the numbers are is the
// card's.
using Measured = std::vector<double>;

// A published figure.
struct Figure {
  std::string name;
  std::string published;
  // The simulated one, as a person reads it.
  std::function<std::string(const Measured&)> show;
  // What must hold of it. Nothing: a training row.
  std::function<bool(const Measured&)> holds;
  std::string predicate{};  // the same for a person; "" for a training row
};

struct Card {
  std::string id;  // "B"
  std::string title;
  std::string source;
  std::vector<UnsettledInput> inputs;
  std::vector<Figure> figures;
  // Simulates the experiment with these values, one for each input.
  std::function<absl::StatusOr<Measured>(const std::vector<uint64_t>& values,
                                         uint64_t seed)>
      simulate;
};

}  // namespace lookaside

#endif  // LOOKASIDE_REPRODUCE_CARD_H_
