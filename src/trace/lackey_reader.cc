// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lackey_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/trace/quoted.h"

namespace lookaside {
namespace {

// A few lines of the greatest length; small enough for the L2 cache.
constexpr size_t kTextBytes = size_t{256} << 10;

std::string_view WithoutCarriageReturn(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

LackeyReader::LackeyReader(std::unique_ptr<ByteSource> source,
                           std::string_view head)
    : source_(std::move(source)),
      text_(kTextBytes + kLackeyPadding),
      end_(head.size()) {
  LOOKASIDE_CHECK(head.size() <= kMaxLineBytes);
  std::copy(head.begin(), head.end(), text_.begin());
}

size_t LackeyReader::Read(std::span<TraceEvent> events) {
  LOOKASIDE_DCHECK(!events.empty());
  calls_.clear();
  if (!status_.ok()) return 0;
  size_t count = 0;
  for (;;) {
    count += HandOut(events.subspan(count));
    count += ParseRun(events.subspan(count));
    if (count == events.size()) return count;
    const Next next = TakeLine(&events[count]);
    if (next == Next::kStop) return count;
    if (next == Next::kEvent) ++count;
  }
}

// What the last line gave beyond what there was room for.
size_t LackeyReader::HandOut(std::span<TraceEvent> events) {
  const std::vector<MemoryCall>& done = tracker_.done();
  size_t count = 0;
  for (; count < events.size() && handed_out_ < done.size(); ++count) {
    const MemoryCall& call = done[handed_out_++];
    ++calls_by_kind_[static_cast<size_t>(call.kind)];
    if (!call.succeeded()) ++failed_calls_;
    events[count] = {VirtAddr(calls_.size()), 0, EventKind::kCall, 0,
                     call.thread};
    calls_.push_back(call);
  }
  if (handed_out_ < done.size()) return count;
  tracker_.ClearDone();
  handed_out_ = 0;
  if (behind_.has_value() && count < events.size()) {
    events[count++] = *behind_;
    behind_.reset();
  }
  return count;
}

// The accesses up to the next line of another kind or the end of the buffer.
size_t LackeyReader::ParseRun(std::span<TraceEvent> events) {
  if (behind_.has_value()) return 0;
  const char* const text = text_.data();
  const uint32_t thread = tracker_.threads().current();
  const char* p = text + begin_;
  uint64_t modifies = 0;
  size_t count = 0;
  for (; count < events.size(); ++count) {
    const char* const next = ParseAccessLine(p, &events[count]);
    if (next == nullptr) break;
    events[count].thread = thread;
    modifies += events[count].kind == EventKind::kModify ? 1u : 0u;
    p = next;
  }
  begin_ = static_cast<size_t>(p - text);
  lines_ += count;
  events_ += count;
  modifies_ += modifies;
  return count;
}

// One line of any kind, or more text.
LackeyReader::Next LackeyReader::TakeLine(TraceEvent* event) {
  const std::string_view rest(text_.data() + begin_, end_ - begin_);
  const size_t newline = rest.find('\n');
  if (newline == std::string_view::npos) {
    if (rest.size() > kMaxLineBytes) return Overlong();
    if (Refill()) return Next::kNothing;
    return status_.ok() ? TakeLastLine(event) : Next::kStop;
  }
  if (newline > kMaxLineBytes) return Overlong();
  begin_ += newline + 1;
  ++lines_;
  return TakeText(WithoutCarriageReturn(rest.substr(0, newline)), event);
}

LackeyReader::Next LackeyReader::TakeLastLine(TraceEvent* event) {
  if (begin_ == end_) return TakeEnd();
  const std::string_view line(text_.data() + begin_, end_ - begin_);
  begin_ = end_;
  ++lines_;
  no_last_newline_ = true;
  const uint64_t events = events_;
  const Next next = TakeText(WithoutCarriageReturn(line), event);
  if (next != Next::kStop) return next;
  return Fail(DataLoss(
      "{}: line {}: the trace ends in mid-record: {}; {} event{} before it",
      source_->name(), lines_, Quoted(line), events, events == 1 ? "" : "s"));
}

LackeyReader::Next LackeyReader::TakeEnd() {
  if (ended_) return Next::kStop;
  ended_ = true;
  if (events_ == 0) {
    return Fail(InvalidArgument("{}: holds no events, only {} other line{}",
                                source_->name(), lines_,
                                lines_ == 1 ? "" : "s"));
  }
  tracker_.Finish();
  return Next::kNothing;
}

LackeyReader::Next LackeyReader::TakeText(std::string_view line,
                                          TraceEvent* event) {
  const LackeyLine kind = ClassifyLackeyLine(line);
  switch (kind) {
    case LackeyLine::kOther:
      return TakeAccess(line, event);
    case LackeyLine::kSystemCall:
    case LackeyLine::kScheduling:
      return TakeCallText(kind, line);
    case LackeyLine::kValgrind:
      tracker_.TakeMessage(line);
      break;
    case LackeyLine::kBlank:
      // The first character of a load, store or modify looks like this.
      if (no_last_newline_ && !line.empty()) return Next::kStop;
      break;
    case LackeyLine::kSuperblock:
      break;
  }
  ++skipped_[static_cast<size_t>(kind)];
  return Next::kNothing;
}

LackeyReader::Next LackeyReader::TakeCallText(LackeyLine kind,
                                              std::string_view line) {
  const LackeyCalls::Line taken = tracker_.Take(line);
  if (!taken.error.empty() || (no_last_newline_ && !taken.whole)) {
    return FailOnText(InvalidArgument("{}: line {}: {} {}{}", source_->name(),
                                      lines_, Quoted(line), taken.error,
                                      WhyMixed()));
  }
  if (!taken.of_memory_call) ++skipped_[static_cast<size_t>(kind)];
  if (kind != LackeyLine::kSystemCall) return Next::kNothing;
  const std::optional<std::string_view> glued =
      BeginsAsAccess(taken.rest) ? taken.rest : GluedAccess(line);
  if (!glued.has_value()) return Next::kNothing;
  TraceEvent event;
  const Next next = TakeAccess(*glued, &event);
  if (next != Next::kEvent) return next;
  behind_ = event;
  return Next::kNothing;
}

LackeyReader::Next LackeyReader::TakeAccess(std::string_view text,
                                            TraceEvent* event) {
  const std::string line =
      std::string(text) + '\n' + std::string(kLackeyPadding, '\0');
  if (ParseAccessLine(line.data(), event) == nullptr) {
    return FailOnText(InvalidArgument("{}: line {}: {} {}{}", source_->name(),
                                      lines_, Quoted(text),
                                      WhyNotAnAccess(text), WhyMixed()));
  }
  event->thread = tracker_.threads().current();
  ++events_;
  modifies_ += Accesses(event->kind) - 1;
  return Next::kEvent;
}

// What may have broken a line.
std::string LackeyReader::WhyMixed() const {
  // A child writes before a line names it.
  const bool forked = calls_by_kind_[static_cast<size_t>(CallKind::kFork)] > 0;
  const uint32_t processes =
      std::max(tracker_.threads().processes(), forked ? 2u : 1u);
  if (processes < 2) return "";
  return fmt::format(
      "; {} processes wrote the recording, maybe into each other's lines: "
      "record each in its own file (--log-file=FILE.%p), or the parent alone "
      "(--child-silent-after-fork=yes)",
      processes);
}

// What is left over is less than a line: moving it to the front is cheap.
bool LackeyReader::Refill() {
  std::copy(text_.begin() + static_cast<ptrdiff_t>(begin_),
            text_.begin() + static_cast<ptrdiff_t>(end_), text_.begin());
  end_ -= begin_;
  begin_ = 0;
  const size_t count =
      source_->Read(std::span(text_.data() + end_, kTextBytes - end_));
  end_ += count;
  std::fill_n(text_.begin() + static_cast<ptrdiff_t>(end_), kLackeyPadding,
              '\0');
  if (count > 0) return true;
  if (!source_->status().ok()) {
    Fail(absl::Status(
        source_->status().code(),
        fmt::format("{}; {} event{} before it", Message(source_->status()),
                    events_, events_ == 1 ? "" : "s")));
  }
  return false;
}

// Text that is not lackey's may come of damaged compression.
LackeyReader::Next LackeyReader::FailOnText(absl::Status status) {
  const absl::Status rest = source_->CheckRest();
  if (rest.ok()) return Fail(std::move(status));
  return Fail(absl::Status(
      rest.code(),
      fmt::format("{}; {} event{} before it, and line {} is not a "
                  "lackey record any more",
                  Message(rest), events_, events_ == 1 ? "" : "s", lines_)));
}

LackeyReader::Next LackeyReader::Fail(absl::Status status) {
  status_ = std::move(status);
  return Next::kStop;
}

LackeyReader::Next LackeyReader::Overlong() {
  return FailOnText(InvalidArgument(
      "{}: line {}: is longer than {} bytes: {}", source_->name(), lines_ + 1,
      kMaxLineBytes, Quoted({text_.data() + begin_, end_ - begin_})));
}

TraceInfo LackeyReader::info() const {
  TraceInfo info;
  info.name = source_->name();
  info.format = "lackey";
  if (source_->compression() != Compression::kNone) {
    info.format += fmt::format("+{}", Suffix(source_->compression()));
  }
  info.xxh3 = source_->Xxh3();
  info.bytes = source_->stored_size();
  info.events = events_;
  info.accesses = events_ + modifies_;
  for (size_t i = 0; i < skipped_.size(); ++i) {
    if (skipped_[i] == 0) continue;
    info.skipped.push_back(
        {std::string(Name(static_cast<LackeyLine>(i))), skipped_[i]});
  }
  info.calls = calls_by_kind_;
  info.failed_calls = failed_calls_;
  const LackeyThreads& threads = tracker_.threads();
  if (events_ > 0) {
    info.threads = std::max(threads.threads(), 1u);
    info.processes = std::max(threads.processes(), 1u);
  }
  AddWarnings(info);
  return info;
}

void LackeyReader::AddWarnings(TraceInfo& info) const {
  if (info.processes > 1) {
    info.warnings.push_back(fmt::format(
        "{} processes wrote the recording, and its accesses do not tell whose "
        "they are: each process is taken to go on until another is named; "
        "record with --child-silent-after-fork=yes, or each process in its "
        "own file (--log-file=FILE.%p)",
        info.processes));
  }
  if (info.threads > 1 &&
      skipped_[static_cast<size_t>(LackeyLine::kScheduling)] == 0) {
    info.warnings.push_back(
        "the recording has no scheduling lines: which of its threads made an "
        "access is known only from the last system call; record with "
        "--trace-sched=yes");
  }
  if (const uint64_t calls = tracker_.unfinished(); calls > 0) {
    info.warnings.push_back(fmt::format(
        "{} memory-management call{} left out: no result is in the recording",
        calls, calls == 1 ? " is" : "s are"));
  }
  if (no_last_newline_) {
    info.warnings.push_back(
        "the last line has no newline: the recording may be cut");
  }
}

}  // namespace lookaside
