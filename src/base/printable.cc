// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/printable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lookaside {
namespace {

constexpr size_t kMostBytes = 200;
constexpr size_t kKeptInFront = 120;
constexpr size_t kKeptBehind = 60;
static_assert(kKeptInFront + kKeptBehind + 3 <= kMostBytes);

uint8_t At(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
}

bool IsContinuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// Bytes of the character that `text` begins with; 0 if it may not be shown.
// Overlong forms and surrogates do no harm and are let through.
size_t CharacterSize(std::string_view text) {
  const uint8_t first = At(text, 0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < size; ++i) {
    if (!IsContinuation(At(text, i))) return 0;
  }
  const bool is_control = first == 0xc2 && At(text, 1) < 0xa0;
  return is_control ? 0 : size;
}

// No character is cut.
std::string Clipped(std::string_view word) {
  if (word.size() <= kMostBytes) return std::string(word);
  size_t front = kKeptInFront;
  while (IsContinuation(At(word, front))) --front;
  size_t behind = word.size() - kKeptBehind;
  while (IsContinuation(At(word, behind))) ++behind;
  return std::string(word.substr(0, front)) + "..." +
         std::string(word.substr(behind));
}

std::string WithoutControls(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    if (size == 0) {
      out += '?';
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

}  // namespace

std::string Printable(std::string_view text) {
  const std::string clean = WithoutControls(text);
  std::string out;
  for (std::string_view rest = clean;;) {
    const size_t blank = std::min(rest.find(' '), rest.size());
    out += Clipped(rest.substr(0, blank));
    if (blank == rest.size()) return out;
    out += ' ';
    rest.remove_prefix(blank + 1);
  }
}

}  // namespace lookaside
