// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace lookaside {
namespace {

using Named = LackeyThreads::Named;
using State = LackeyResult::State;

constexpr std::string_view kReturnMark = " ... ";

std::string NotWhole(const LackeyCallForm& form) {
  return fmt::format(
      "is not a whole {} call; expected 'SYSCALL[PID,THREAD](NUMBER) {} --> "
      "[...] Success(0xRESULT)' or 'Failure(0xERRNO)'",
      Name(form.kind), Spelled(form));
}

// What can stand behind a call without being part of it.
bool IsAnother(std::string_view text) {
  if (text.find_first_not_of(' ') == std::string_view::npos) return true;
  constexpr std::string_view kBeginnings[] = {
      "I  ", " L ", " S ", " M ", "SB ", "==", "--", "**", "SCHEDSETJMP("};
  return std::any_of(
      std::begin(kBeginnings), std::end(kBeginnings),
      [text](std::string_view begin) { return text.starts_with(begin); });
}

// Of "==7== Command: ls", also with a time before the process.
std::optional<uint32_t> ProcessOfCommand(std::string_view line) {
  const size_t end = line.find("== Command: ");
  if (end == std::string_view::npos || !line.starts_with("==")) {
    return std::nullopt;
  }
  const size_t before = line.substr(0, end).find_last_of("= ");
  uint32_t pid = 0;
  const char* const digits = line.data() + before + 1;
  const auto [p, error] = std::from_chars(digits, line.data() + end, pid);
  if (error != std::errc() || p != line.data() + end) return std::nullopt;
  return pid;
}

}  // namespace

LackeyCalls::Line LackeyCalls::Take(std::string_view text) {
  Line line;
  while (line.error.empty()) {
    if (text.starts_with("SYSCALL[")) {
      TakeCallLine(text, line);
    } else if (text.starts_with(" --> [")) {
      TakeLateResult(text, line);
    } else if (IsForkMessage(text)) {
      TakeFork(text, line);
    } else if (!TakeScheduler(text)) {
      break;
    }
  }
  line.rest = text;
  return line;
}

void LackeyCalls::TakeCallLine(std::string_view& text, Line& line) {
  const std::optional<LackeyHead> head = TakeCallHead(text);
  if (!head.has_value()) {
    line.error =
        "is not a whole system-call line; expected 'SYSCALL[PID,THREAD]"
        "(NUMBER) NAME ( ARGUMENTS )'";
    return;
  }
  open_.reset();
  threads_.Run(head->pid, head->tid, Named::kCalling);
  if (text.starts_with(kReturnMark)) return TakeReturn(*head, text, line);
  Abandon(threads_.current());
  const LackeyCallForm* const form = FindCallForm(text);
  if (form == nullptr) return TakeOtherCall(text, line);
  TakeMemoryCall(*head, *form, text, line);
}

void LackeyCalls::TakeOtherCall(std::string_view& text, Line& line) {
  SkipCall(text);
  const State state = TakeResult(text).state;
  line.whole = state == State::kReturned || state == State::kBlocked;
  if (state == State::kBroken) text = {};
}

void LackeyCalls::TakeMemoryCall(const LackeyHead& head,
                                 const LackeyCallForm& form,
                                 std::string_view& text, Line& line) {
  line.of_memory_call = true;
  const std::string_view whole = text;
  std::optional<MemoryCall> call = TakeCall(form, text);
  const LackeyResult result =
      call.has_value() ? TakeResult(text) : LackeyResult{State::kBroken};
  if (result.state == State::kBroken ||
      (result.state == State::kMissing && !IsAnother(text) &&
       !IsForkMessage(text))) {
    line.error = NotWhole(form);
    return;
  }
  const uint32_t thread = threads_.current();
  call->thread = thread;
  call->process = threads_.current_process();
  started_[thread] = {*call, head.number};
  if (result.state == State::kMissing) open_ = thread;
  if (result.state == State::kReturned) Return(thread, result, line);
  // An execve that succeeds ends here.
  line.whole = result.state != State::kMissing || !text.empty() ||
               (call->kind == CallKind::kExecve && whole.ends_with(" )"));
}

void LackeyCalls::TakeReturn(const LackeyHead& head, std::string_view& text,
                             Line& line) {
  text.remove_prefix(kReturnMark.size());
  const LackeyResult result = TakeResult(text);
  line.whole = result.state == State::kReturned;
  if (!line.whole) text = {};
  const auto started = started_.find(threads_.current());
  if (started == started_.end() || started->second.number != head.number) {
    return;
  }
  line.of_memory_call = true;
  if (line.whole) return Return(threads_.current(), result, line);
  line.error = fmt::format(
      "is not the whole result of a call of {}; expected 'SYSCALL[PID,THREAD]"
      "({}) ... [async] --> Success(0xRESULT)' or 'Failure(0xERRNO)'",
      Name(started->second.call.kind), head.number);
}

void LackeyCalls::TakeLateResult(std::string_view& text, Line& line) {
  const LackeyResult result = TakeResult(text);
  line.whole = result.state != State::kBroken;
  if (!line.whole) text = {};
  if (!open_.has_value() || !started_.contains(*open_)) return;
  const uint32_t thread = *open_;
  open_.reset();
  line.of_memory_call = true;
  const MemoryCall& call = started_.at(thread).call;
  if (!line.whole) {
    line.error = fmt::format(
        "is not the whole result of a call of {}; expected ' --> [...] "
        "Success(0xRESULT)' or 'Failure(0xERRNO)'",
        Name(call.kind));
    return;
  }
  threads_.RunProcess(call.process);
  if (result.state == State::kReturned) Return(thread, result, line);
}

void LackeyCalls::TakeFork(std::string_view& text, Line& line) {
  const std::optional<LackeyFork> fork = TakeForkMessage(text);
  line.whole = fork.has_value();
  line.of_memory_call = true;
  open_.reset();
  if (!fork.has_value()) {
    line.error =
        "is not a whole message of a fork; expected '   fork: process PID "
        "created child PID'";
    return;
  }
  const std::optional<uint32_t> parent = threads_.Find(fork->parent);
  if (!parent.has_value()) return;
  threads_.RunProcess(*parent);
  const auto started = started_.find(threads_.current());
  if (started != started_.end() &&
      started->second.call.kind == CallKind::kFork) {
    Return(threads_.current(), {State::kReturned, false, fork->child}, line);
  }
  threads_.NameFork(fork->child);
}

bool LackeyCalls::TakeScheduler(std::string_view& text) {
  const std::optional<LackeyHead> head = TakeSchedulerHead(text);
  if (!head.has_value()) return false;
  const bool starts =
      text.find("starting new thread") != std::string_view::npos;
  threads_.Run(head->pid, head->tid,
               starts ? Named::kStarting : Named::kRunning);
  // A signal ends a thread without a call.
  if (text.find("exiting VG_(scheduler)") != std::string_view::npos) {
    threads_.Exit();
  }
  text = {};
  return true;
}

void LackeyCalls::Return(uint32_t thread, const LackeyResult& result,
                         Line& line) {
  const auto started = started_.find(thread);
  if (started == started_.end()) return;
  MemoryCall call = started->second.call;
  started_.erase(started);
  if (!result.failed) {
    Succeed(result.value, call);
  } else if (result.value >= 1 && result.value <= uint64_t{kMostErrno}) {
    call.error = static_cast<int32_t>(result.value);
  } else {
    line.error = fmt::format(
        "has an error number outside 1..{} as the result of a call of {}",
        kMostErrno, Name(call.kind));
    return;
  }
  done_.push_back(call);
}

void LackeyCalls::Succeed(uint64_t result, MemoryCall& call) {
  switch (call.kind) {
    case CallKind::kMmap:
    case CallKind::kMremap:
      call.result = VirtAddr(result);
      return;
    case CallKind::kBrk:
      call.result = VirtAddr(result);
      if (call.address != VirtAddr(0) && call.address != call.result) {
        call.error = kErrnoNoMemory;
      }
      return;
    case CallKind::kClone:
      call.child = threads_.Clone();
      return;
    case CallKind::kFork:
      call.child = threads_.Fork();
      // It is the child who returns with 0.
      if (result == 0) return threads_.RunFork();
      return threads_.NameFork(static_cast<uint32_t>(result));
    case CallKind::kExecve:
      return threads_.Exec(call.process, call.thread);
    case CallKind::kExit:
      return threads_.Exit();
    case CallKind::kMunmap:
    case CallKind::kMprotect:
    case CallKind::kMadvise:
    case CallKind::kExitGroup:
      return;
  }
}

void LackeyCalls::CompleteExec(uint32_t thread) {
  Line line;
  Return(thread, {State::kReturned, false, 0}, line);
}

void LackeyCalls::Abandon(uint32_t thread) {
  const auto started = started_.find(thread);
  if (started == started_.end()) return;
  // The new program makes it.
  if (started->second.call.kind == CallKind::kExecve) {
    return CompleteExec(thread);
  }
  started_.erase(started);
  ++unfinished_;
}

void LackeyCalls::TakeMessage(std::string_view line) {
  if (started_.empty()) return;
  const std::optional<uint32_t> pid = ProcessOfCommand(line);
  if (!pid.has_value()) return;
  const std::optional<uint32_t> process = threads_.Find(*pid);
  std::optional<uint32_t> first;  // not the first of the hash table
  for (const auto& [thread, started] : started_) {
    if (started.call.kind == CallKind::kExecve &&
        started.call.process == process && (!first || thread < *first)) {
      first = thread;
    }
  }
  if (first.has_value()) CompleteExec(*first);
}

void LackeyCalls::Finish() {
  std::vector<uint32_t> threads;
  for (const auto& [thread, started] : started_) threads.push_back(thread);
  std::sort(threads.begin(), threads.end());  // not the order of the hash table
  for (const uint32_t thread : threads) Abandon(thread);
}

}  // namespace lookaside
