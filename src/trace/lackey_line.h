// SPDX-License-Identifier: Apache-2.0
//
// One line of the text that Valgrind's lackey tool writes (lackey/lk_main.c,
// coregrind/m_syswrap and m_scheduler of Valgrind 3.19):
//
//   I  0401ab70,3          an instruction fetch: address in hexadecimal, size
//    L 1fff000708,8        a load; " S " a store; " M " a modify
//   SB 0401ab70            a superblock is entered (--trace-superblocks=yes)
//   SYSCALL[7,1](9) ...    a system call (--trace-syscalls=yes), and what
//    --> [pre-fail] ...    stands on a line of its own of its result
//   --7--   SCHED[1]: ...  the scheduler (--trace-sched=yes)
//   ==7== ...              messages of Valgrind; also "--7--" and "**7**"
//
// Valgrind ends the line of a system call late, so that other text, of
// another thread or of the scheduler, can stand behind it on the same line; a
// `GluedAccess` there is an access like any other.
//
// Leaves out: what a system call did (trace/lackey_calls.h).
#ifndef LOOKASIDE_TRACE_LACKEY_LINE_H_
#define LOOKASIDE_TRACE_LACKEY_LINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "lookaside/base/address.h"
#include "lookaside/trace/trace_event.h"

namespace lookaside {

enum class LackeyLine : uint8_t {
  kValgrind = 0,
  kScheduling,
  kSystemCall,
  kSuperblock,
  kBlank,
  kOther,  // an access, or no lackey line at all
};
inline constexpr int kLackeyLines = 6;

// "scheduling lines" and so on.
std::string_view Name(LackeyLine kind);

// REQUIRES: no newline in `line`.
LackeyLine ClassifyLackeyLine(std::string_view line);

// The access at the end of a line of kind kSystemCall, from its first
// character, if there is one.
std::optional<std::string_view> GluedAccess(std::string_view line);

// Whether the text begins as only an access does.
bool BeginsAsAccess(std::string_view text);

// Why a line of kind kOther is not an access, as an error says it after the
// text of the line.
std::string WhyNotAnAccess(std::string_view line);

// Whether the first line of a file could be lackey's; `text` may be cut.
bool LooksLikeLackey(std::string_view text);

namespace lackey_internal {

inline constexpr uint8_t kNoDigit = 0xff;

constexpr std::array<uint8_t, 256> HexDigits() {
  std::array<uint8_t, 256> table{};
  table.fill(kNoDigit);
  for (uint8_t i = 0; i < 10; ++i) table[size_t{'0'} + i] = i;
  for (uint8_t i = 0; i < 6; ++i) {
    table[size_t{'a'} + i] = static_cast<uint8_t>(10 + i);
  }
  return table;
}
inline constexpr std::array<uint8_t, 256> kHexDigits = HexDigits();

// "I  ", " L ", " S ", " M " by EventKind, as the low three bytes of a word.
inline constexpr uint32_t kPrefixes[] = {0x202049, 0x204c20, 0x205320,
                                         0x204d20};

// The kind that the first two bytes can only mean: I, L, S and M with a
// space's bit are 0x69, 0x6c, 0x73 and 0x6d, whose bits 0..2 differ.
inline constexpr uint8_t kKinds[8] = {0, 0, 0, 2, 1, 3, 0, 0};

// In how many bits an address of five paging levels is sign-extended.
inline constexpr unsigned kSignShift = 56;

}  // namespace lackey_internal

// Bytes behind the text that ParseAccessLine may look at; they must be NUL.
inline constexpr size_t kLackeyPadding = 8;

// Parses the access line that begins at `p`. Returns where the next line
// begins; null if what is there is not a whole, valid access with its end of
// line ("\n" or "\r\n"), and then `event` may have changed.
// REQUIRES: kLackeyPadding NUL bytes follow the text.
inline const char* ParseAccessLine(const char* p, TraceEvent* event) {
  namespace internal = lackey_internal;
  const auto byte = [&p] { return static_cast<uint8_t>(*p); };

  uint32_t word;
  std::memcpy(&word, p, sizeof(word));
  const uint8_t kind = internal::kKinds[(word | (word >> 8)) & 7];
  if ((word & 0xffffff) != internal::kPrefixes[kind]) return nullptr;

  p += 3;
  const char* const digits = p;
  uint64_t address = 0;
  for (uint8_t d; (d = internal::kHexDigits[byte()]) < 16; ++p) {
    address = (address << 4) | d;
  }
  // The unsigned difference is 0..15 for 1 to 16 digits.
  if (static_cast<size_t>(p - digits) - 1 > 15 || *p != ',') return nullptr;

  ++p;
  uint32_t size = 0;
  for (uint32_t d; (d = uint32_t{byte()} - '0') < 10; ++p) {
    size = size * 10 + d;
    if (size > UINT16_MAX) return nullptr;
  }
  if (size == 0) return nullptr;
  if (*p == '\r') ++p;
  if (*p != '\n') return nullptr;

  // First and last byte are canonical and on the same side of the hole.
  const auto top = static_cast<int64_t>(address) >> internal::kSignShift;
  const auto last = static_cast<int64_t>(address + size - 1);
  if (static_cast<uint64_t>(top + 1) > 1 ||
      top != last >> internal::kSignShift) {
    return nullptr;
  }
  *event = {VirtAddr(address), static_cast<uint16_t>(size),
            static_cast<EventKind>(kind), 0, 0};
  return p + 1;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LACKEY_LINE_H_
