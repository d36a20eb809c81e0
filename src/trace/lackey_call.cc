// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <system_error>

namespace lookaside {
namespace {

constexpr size_t kMostArguments = 6;
using Arguments = std::array<uint64_t, kMostArguments>;

constexpr LackeyCallForm kForms[] = {
    {"sys_mmap", CallKind::kMmap, "ADDRESS, LENGTH, PROT, FLAGS, FD, OFFSET", 6,
     6},
    {"sys_munmap", CallKind::kMunmap, "ADDRESS, LENGTH", 2, 2},
    {"sys_mprotect", CallKind::kMprotect, "ADDRESS, LENGTH, PROT", 3, 3},
    {"sys_mremap", CallKind::kMremap,
     "ADDRESS, LENGTH, NEW_LENGTH, FLAGS[, NEW_ADDRESS]", 4, 5},
    {"sys_brk", CallKind::kBrk, "ADDRESS", 1, 1},
    {"sys_madvise", CallKind::kMadvise, "ADDRESS, LENGTH, ADVICE", 3, 3},
    {"sys_clone", CallKind::kClone, "FLAGS, STACK, ...", 2, kMostArguments},
    {"sys_fork", CallKind::kFork, "", 0, 0},
    {"sys_execve", CallKind::kExecve, "...", 0, 0},
    {"exit", CallKind::kExit, "STATUS", 1, 1},
    {"exit_group", CallKind::kExitGroup, "STATUS", 1, 1},
};

constexpr std::string_view kResult = " --> [";
constexpr std::string_view kSyncResult = "[sync] --> ";
constexpr std::string_view kAsyncResult = "[async] --> ";
constexpr std::string_view kForkMessage = "   fork: process ";
constexpr std::string_view kCloneForkMessage = "   clone(fork): process ";

bool Take(std::string_view prefix, std::string_view& text) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

template <std::unsigned_integral T>
bool TakeNumber(T& number, std::string_view& text, int base = 10) {
  const char* const end = text.data() + text.size();
  const auto [p, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(p - text.data()));
  return true;
}

void TakeBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

// Hexadecimal with 0x, decimal, or a negative decimal number.
bool TakeArgument(uint64_t& argument, std::string_view& text) {
  if (Take("0x", text)) return TakeNumber(argument, text, 16);
  const bool negative = Take("-", text);
  if (!TakeNumber(argument, text)) return false;
  if (negative) argument = uint64_t{0} - argument;
  return true;
}

// "( 1, 2 )" or "( )".
bool TakeArguments(const LackeyCallForm& form, Arguments& arguments,
                   std::string_view& text) {
  if (!Take("(", text)) return false;
  TakeBlanks(text);
  size_t count = 0;
  while (!text.starts_with(')')) {
    if (count == form.most || (count > 0 && !Take(",", text))) return false;
    TakeBlanks(text);
    const bool bare = form.kind == CallKind::kClone && count == 0;
    if (bare ? !TakeNumber(arguments[count], text, 16)
             : !TakeArgument(arguments[count], text)) {
      return false;
    }
    ++count;
    TakeBlanks(text);
  }
  text.remove_prefix(1);
  return count >= form.least;
}

// A clone that is no thread of the process is a fork.
CallKind KindOf(const LackeyCallForm& form, uint32_t flags) {
  const bool thread =
      (flags & kCloneFlagVm) != 0 && (flags & kCloneFlagVfork) == 0;
  return form.kind == CallKind::kClone && !thread ? CallKind::kFork : form.kind;
}

MemoryCall MakeCall(const LackeyCallForm& form, const Arguments& arguments) {
  const auto bits = [&arguments](size_t i) {
    return static_cast<uint32_t>(arguments[i]);
  };
  MemoryCall call;
  call.kind = form.kind;
  switch (form.kind) {
    case CallKind::kMmap:
      call.prot = bits(2);
      call.flags = bits(3);
      call.fd = static_cast<int32_t>(bits(4));
      call.offset = arguments[5];
      break;
    case CallKind::kMprotect:
      call.prot = bits(2);
      break;
    case CallKind::kMremap:
      call.new_length = arguments[2];
      call.flags = bits(3);
      call.new_address = VirtAddr(arguments[4]);
      break;
    case CallKind::kMadvise:
      call.advice = static_cast<int32_t>(bits(2));
      break;
    case CallKind::kClone:
      call.flags = bits(0);
      call.kind = KindOf(form, call.flags);
      return call;
    case CallKind::kMunmap:
    case CallKind::kBrk:
      break;
    case CallKind::kFork:
    case CallKind::kExecve:
    case CallKind::kExit:
    case CallKind::kExitGroup:
      return call;
  }
  call.address = VirtAddr(arguments[0]);
  call.length = arguments[1];
  return call;
}

// Whether `text` is the cut beginning of a result.
bool BeginsResult(std::string_view text) {
  return text.find_first_not_of(' ') != std::string_view::npos &&
         (kResult.starts_with(text) || kSyncResult.starts_with(text) ||
          kAsyncResult.starts_with(text));
}

std::string_view NameIn(std::string_view text) {
  TakeBlanks(text);
  return text.substr(0, text.find_first_of(" ("));
}

}  // namespace

std::optional<LackeyHead> TakeCallHead(std::string_view& text) {
  LackeyHead head;
  std::string_view rest = text;
  if (!Take("SYSCALL[", rest) || !TakeNumber(head.pid, rest) ||
      !Take(",", rest) || !TakeNumber(head.tid, rest) || !Take("](", rest) ||
      !TakeNumber(head.number, rest) || !Take(")", rest)) {
    return std::nullopt;
  }
  text = rest;
  return head;
}

std::optional<LackeyHead> TakeSchedulerHead(std::string_view& text) {
  constexpr std::string_view kMark = "--   SCHED[";
  if (!text.starts_with("--")) return std::nullopt;
  const size_t mark = text.find(kMark, 2);
  if (mark == std::string_view::npos) return std::nullopt;
  // A time may stand before the process (--time-stamp=yes).
  const size_t blank = text.substr(0, mark).rfind(' ');
  std::string_view pid =
      text.substr(blank == std::string_view::npos ? 2 : blank + 1);
  LackeyHead head;
  std::string_view rest = text.substr(mark + kMark.size());
  if (!TakeNumber(head.pid, pid) || !pid.starts_with(kMark) ||
      !TakeNumber(head.tid, rest) || !Take("]:", rest)) {
    return std::nullopt;
  }
  text = rest;
  return head;
}

LackeyResult TakeResult(std::string_view& text) {
  LackeyResult result;
  std::string_view rest = text;
  if (Take(kResult, rest)) {
    result.state = LackeyResult::State::kBroken;
    const size_t end = rest.find("] ");
    if (end == std::string_view::npos) return result;
    rest.remove_prefix(end + 2);
  } else if (!Take(kSyncResult, rest) && !Take(kAsyncResult, rest)) {
    if (BeginsResult(text)) result.state = LackeyResult::State::kBroken;
    return result;
  }
  result.state = LackeyResult::State::kBroken;
  if (Take("...", rest)) {
    result.state = LackeyResult::State::kBlocked;
  } else {
    result.failed = rest.starts_with("Failure");
    if ((!Take("Success(0x", rest) && !Take("Failure(0x", rest)) ||
        !TakeNumber(result.value, rest, 16) || !Take(")", rest)) {
      return result;
    }
    result.state = LackeyResult::State::kReturned;
  }
  Take(" ", rest);
  text = rest;
  return result;
}

bool IsForkMessage(std::string_view text) {
  return text.starts_with(kForkMessage) || text.starts_with(kCloneForkMessage);
}

std::optional<LackeyFork> TakeForkMessage(std::string_view& text) {
  LackeyFork fork;
  std::string_view rest = text;
  if ((!Take(kForkMessage, rest) && !Take(kCloneForkMessage, rest)) ||
      !TakeNumber(fork.parent, rest) || !Take(" created child ", rest) ||
      !TakeNumber(fork.child, rest)) {
    return std::nullopt;
  }
  text = rest;
  return fork;
}

const LackeyCallForm* FindCallForm(std::string_view text) {
  const std::string_view name = NameIn(text);
  const auto form = std::find_if(
      std::begin(kForms), std::end(kForms),
      [name](const LackeyCallForm& known) { return known.name == name; });
  return form == std::end(kForms) ? nullptr : form;
}

std::optional<MemoryCall> TakeCall(const LackeyCallForm& form,
                                   std::string_view& text) {
  Arguments arguments{};
  std::string_view rest = text;
  TakeBlanks(rest);
  rest.remove_prefix(form.name.size());
  TakeBlanks(rest);
  if (form.kind == CallKind::kExecve) {
    SkipCall(rest);  // what stands there can be any path
  } else if (!TakeArguments(form, arguments, rest)) {
    return std::nullopt;
  }
  text = rest;
  return MakeCall(form, arguments);
}

std::string Spelled(const LackeyCallForm& form) {
  std::string text(form.name);
  text += " (";
  if (!form.arguments.empty()) {
    text += ' ';
    text += form.arguments;
  }
  return text + " )";
}

void SkipCall(std::string_view& text) {
  size_t end = text.size();
  for (const std::string_view piece :
       {kResult, kSyncResult, kForkMessage, kCloneForkMessage}) {
    end = std::min(end, text.find(piece));
  }
  // A message behind the arguments.
  for (const std::string_view piece :
       {std::string_view(")--"), std::string_view(")==")}) {
    const size_t at = text.find(piece);
    if (at < end) end = at + 1;
  }
  text.remove_prefix(end);
}

}  // namespace lookaside
