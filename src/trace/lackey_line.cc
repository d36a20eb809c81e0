// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_line.h"

#include <algorithm>
#include <charconv>

namespace lookaside {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kDecimal = "0123456789";
constexpr std::string_view kExpected =
    "is not a lackey record; expected 'I  ADDRESS,SIZE', ' L ', ' S ' or ' M ' "
    "(address in hexadecimal, size in decimal), a SYSCALL or SCHED line, or a "
    "message of Valgrind ('==pid==')";

bool IsAccessPrefix(std::string_view prefix) {
  return prefix == "I  " || prefix == " L " || prefix == " S " ||
         prefix == " M ";
}

// What follows "==pid==", "--pid--" or "**pid**"; the pid may have a time
// before it (--time-stamp=yes).
std::optional<std::string_view> AfterPid(std::string_view line) {
  if (line.size() < 5) return std::nullopt;
  const std::string_view mark = line.substr(0, 2);
  if (mark != "==" && mark != "--" && mark != "**") return std::nullopt;
  const size_t end = line.find_first_not_of("0123456789:. ", 2);
  if (end == 2 || end == std::string_view::npos) return std::nullopt;
  if (line.substr(end, 2) != mark) return std::nullopt;
  return line.substr(end + 2);
}

bool IsSchedulerMessage(std::string_view text) {
  return text.starts_with("   SCHED[");
}

bool IsSystemCall(std::string_view line) {
  return line.starts_with("SYSCALL[") || line.starts_with(" --> [") ||
         line.starts_with("   clone(fork): process ") ||
         line.starts_with("   fork: process ");
}

bool IsSuperblock(std::string_view line) {
  return line.starts_with("SB ") && line.size() > 3 &&
         line.find_first_not_of(kHex, 3) == std::string_view::npos;
}

}  // namespace

std::string_view Name(LackeyLine kind) {
  constexpr std::string_view kNames[] = {
      "Valgrind messages", "scheduling lines", "system-call lines",
      "superblock lines",  "blank lines",      "other lines"};
  return kNames[static_cast<int>(kind)];
}

LackeyLine ClassifyLackeyLine(std::string_view line) {
  if (line.find_first_not_of(' ') == std::string_view::npos) {
    return LackeyLine::kBlank;
  }
  if (IsSystemCall(line)) return LackeyLine::kSystemCall;
  if (IsSuperblock(line)) return LackeyLine::kSuperblock;
  if (line.starts_with("SCHEDSETJMP(")) return LackeyLine::kScheduling;
  const std::optional<std::string_view> text = AfterPid(line);
  if (!text.has_value()) return LackeyLine::kOther;
  return IsSchedulerMessage(*text) ? LackeyLine::kScheduling
                                   : LackeyLine::kValgrind;
}

std::optional<std::string_view> GluedAccess(std::string_view line) {
  const size_t comma = line.rfind(',');
  if (comma == std::string_view::npos || comma + 1 == line.size() ||
      line.find_first_not_of(kDecimal, comma + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  const size_t before = line.find_last_not_of(kHex, comma - 1);
  if (comma == 0 || before == std::string_view::npos || before < 2 ||
      !IsAccessPrefix(line.substr(before - 2, 3))) {
    return std::nullopt;
  }
  return line.substr(before - 2);
}

bool BeginsAsAccess(std::string_view text) {
  return IsAccessPrefix(text.substr(0, 3));
}

std::string WhyNotAnAccess(std::string_view line) {
  const size_t comma = line.find(',');
  const bool shaped = IsAccessPrefix(line.substr(0, 3)) && comma > 3 &&
                      comma != std::string_view::npos &&
                      comma + 1 < line.size();
  if (!shaped ||
      line.substr(3, comma - 3).find_first_not_of(kHex) !=
          std::string_view::npos ||
      line.find_first_not_of(kDecimal, comma + 1) != std::string_view::npos) {
    return std::string(kExpected);
  }
  uint32_t size = 0;
  std::from_chars(line.data() + comma + 1, line.data() + line.size(), size);
  if (size == 0 || size > UINT16_MAX || line.size() - comma > 6) {
    return "has a size outside 1..65535";
  }
  if (comma - 3 > 16) return "has an address of more than 64 bits";
  return "reaches outside the canonical addresses of 57 bits";
}

bool LooksLikeLackey(std::string_view text) {
  const size_t first = std::min(text.find_first_not_of("\r\n"), text.size());
  const std::string_view line = text.substr(first);
  constexpr std::string_view kBeginnings[] = {
      "I  ", " L ", " S ",      " M ",    "SB ",         "==",
      "--",  "**",  "SYSCALL[", " --> [", "SCHEDSETJMP("};
  return line.empty() ||
         std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [line](std::string_view beginning) {
                       return line.starts_with(beginning);
                     });
}

}  // namespace lookaside
