// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace lookaside {
namespace {

// Nobody mistypes a name of this length, and the distance is quadratic.
constexpr size_t kLongest = 200;

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Optimal string alignment, three rows at a time; the case of letters is no
// difference.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1),
      row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t exchange =
          above[j - 1] + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, exchange});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
          Lower(a[i - 2]) == Lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

bool MayBeMeant(std::string_view name, std::string_view candidate) {
  if (name.empty() || name.size() > kLongest) return false;
  if (candidate.starts_with(name)) return true;
  const std::string_view table = name.substr(0, name.rfind('.') + 1);
  if (!table.empty() && candidate.starts_with(table)) return true;
  return Distance(name, candidate) * 3 <=
         std::max(name.size(), candidate.size());
}

}  // namespace

std::string Nearest(std::string_view name, std::span<const std::string> known) {
  name = name.substr(0, kLongest);
  size_t best = ~size_t{0};
  std::string nearest;
  for (const std::string& candidate : known) {
    const size_t distance = Distance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string Suggest(std::string_view name, std::span<const std::string> known) {
  const std::string nearest = Nearest(name, known);
  return MayBeMeant(name, nearest) ? nearest : "";
}

}  // namespace lookaside
