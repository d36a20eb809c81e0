// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

std::string NameOf(const std::unique_ptr<ByteSource>& source) {
  return source->name();
}

// "3 mmap, 1 munmap"; empty if there are none.
std::string Listed(const std::array<uint64_t, kCallKinds>& calls) {
  std::string text;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", calls[i],
                        Name(static_cast<CallKind>(i)));
  }
  return text;
}

}  // namespace

DrmReader::DrmReader(std::unique_ptr<ByteSource> source, std::string_view head)
    : name_(NameOf(source)) {
  streams_.push_back(
      std::make_unique<DrmStream>(std::move(source), head, 0, common_.get()));
}

DrmReader::DrmReader(std::string name, std::vector<DrmFile> files,
                     std::optional<std::vector<DrmSlice>> schedule)
    : name_(std::move(name)), schedule_(std::move(schedule)) {
  LOOKASIDE_CHECK(!files.empty());
  for (DrmFile& file : files) {
    streams_.push_back(std::make_unique<DrmStream>(
        std::move(file.source), file.head,
        static_cast<uint32_t>(streams_.size()), common_.get()));
  }
}

void DrmReader::Begin() {
  begun_ = true;
  for (size_t i = 0; i < streams_.size() && status_.ok(); ++i) {
    streams_[i]->Start();
    status_ = streams_[i]->status();
    without_timestamp_ += streams_[i]->timestamp() == 0 ? 1u : 0u;
    Queue(i);
  }
}

void DrmReader::Queue(size_t stream) {
  if (streams_[stream]->at_end()) return;
  queue_.emplace_back(streams_[stream]->timestamp(), stream);
  std::ranges::push_heap(queue_, std::greater<>());
}

size_t DrmReader::Read(std::span<TraceEvent> events) {
  LOOKASIDE_DCHECK(!events.empty());
  calls_.clear();
  if (!begun_) Begin();
  size_t count = 0;
  while (status_.ok() && count < events.size()) {
    current_ = Choose();
    if (current_ == kNone) break;
    DrmStream& stream = *streams_[current_];
    count += stream.Read(events.subspan(count), limit_, calls_);
    status_ = stream.status();
  }
  events_ += count - calls_.size();
  for (const MemoryCall& call : calls_) {
    ++calls_by_kind_[static_cast<size_t>(call.kind)];
    if (!call.succeeded()) ++failed_calls_;
  }
  if (count == 0 && status_.ok()) TakeEnd();
  return count;
}

size_t DrmReader::Choose() {
  return schedule_.has_value() ? ChooseBySchedule() : ChooseByTimestamp();
}

size_t DrmReader::ChooseByTimestamp() {
  if (current_ != kNone) {
    const DrmStream& stream = *streams_[current_];
    if (!stream.at_end() &&
        (queue_.empty() ||
         std::pair(stream.timestamp(), current_) < queue_.front())) {
      return current_;
    }
    Queue(current_);
  }
  if (queue_.empty()) return kNone;
  std::ranges::pop_heap(queue_, std::greater<>());
  const size_t next = queue_.back().second;
  queue_.pop_back();
  return next;
}

size_t DrmReader::FindThread(uint64_t tid) const {
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i]->tid() == tid) return i;
  }
  return kNone;
}

size_t DrmReader::ChooseBySchedule() {
  if (current_ != kNone) {
    const DrmStream& stream = *streams_[current_];
    if (!stream.at_end() && stream.instructions() < limit_) return current_;
  }
  while (next_slice_ < schedule_->size()) {
    const DrmSlice& slice = (*schedule_)[next_slice_++];
    const size_t next = FindThread(slice.tid);
    if (next == kNone || streams_[next]->instructions() != slice.first) {
      status_ = InvalidArgument(
          "{}: the schedule lets thread {} go on at instruction {}, {}: it is "
          "not the schedule of these files",
          name_, slice.tid, slice.first,
          next == kNone ? std::string("of which there is no file")
                        : fmt::format("but its file is at instruction {}",
                                      streams_[next]->instructions()));
      return kNone;
    }
    limit_ = slice.end;
    if (!streams_[next]->at_end() && limit_ > slice.first) return next;
  }
  // What the schedule does not tell of, one after another.
  limit_ = DrmStream::kNoLimit;
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (!streams_[i]->at_end()) return i;
  }
  return kNone;
}

void DrmReader::TakeEnd() {
  if (std::exchange(ended_, true)) return;
  for (DrmThread& thread : common_->threads.all()) {
    const DrmCall::Outcome outcome = thread.call.Abandon();
    if (outcome == DrmCall::Outcome::kNone) continue;
    common_->tally.CountOutcome(outcome, *thread.call.kind());
  }
  if (events_ == 0) {
    status_ = InvalidArgument(
        "{}: holds no events, only records of other kinds", name_);
  }
}

// Of one file its own; of several that of their digests, one after another.
std::string DrmReader::Digests() const {
  if (streams_.size() == 1) return streams_[0]->source().Xxh3();
  Digest digest;
  for (const auto& stream : streams_) {
    const std::string one = stream->source().Xxh3();
    digest.AddBytes(one.data(), one.size());
  }
  return digest.Finish().ToString();
}

TraceInfo DrmReader::info() const {
  TraceInfo info;
  info.name = name_;
  info.format = "drmemtrace";
  const Compression compression = streams_[0]->source().compression();
  if (compression != Compression::kNone) {
    info.format += fmt::format("+{}", Suffix(compression));
  }
  info.xxh3 = Digests();
  for (const auto& stream : streams_) {
    info.bytes += stream->source().stored_size();
  }
  info.events = events_;
  info.accesses = events_;
  info.calls = calls_by_kind_;
  info.failed_calls = failed_calls_;
  info.threads = common_->threads.threads();
  info.processes = common_->threads.processes();
  const bool merged = streams_.size() > 1 && !schedule_.has_value();
  info.skipped = common_->tally.Skipped(merged);
  AddWarnings(info);
  return info;
}

void DrmReader::AddCallWarning(TraceInfo& info) const {
  const DrmTally& tally = common_->tally;
  const std::pair<const std::array<uint64_t, kCallKinds>&, std::string_view>
      kinds[] = {
          {tally.without_arguments,
           "without arguments: record them with -record_syscall \"9|6&10|3&"
           "11|2&12|1&25|5&28|3&56|1\" (x86-64)"},
          {tally.without_result, "without a result"},
          {tally.without_address,
           "without the address that they returned, which drmemtrace does not "
           "record: what they map is mapped on first touch"},
      };
  for (const auto& [calls, why] : kinds) {
    const std::string listed = Listed(calls);
    if (listed.empty()) continue;
    info.warnings.push_back(
        fmt::format("memory-management calls left out ({}), {}", listed, why));
  }
}

void DrmReader::AddWarnings(TraceInfo& info) const {
  AddCallWarning(info);
  const uint64_t types = common_->file_types;
  if ((types & kDrmInstructionOnly) != 0) {
    info.warnings.push_back("the trace has no data accesses, only fetches");
  }
  if ((types & kDrmFiltered) != 0) {
    info.warnings.push_back(
        "the trace was filtered by simulated caches when it was recorded: "
        "accesses that hit there are missing");
  }
  if (common_->page_bytes > kPageBytes) {
    info.warnings.push_back(fmt::format(
        "the recording machine had pages of {} bytes; those of the simulated "
        "one are of 4096",
        common_->page_bytes));
  }
  if (const uint64_t sizeless = common_->tally.sizeless; sizeless > 0) {
    info.warnings.push_back(fmt::format(
        "{} access{} of size 0, which the recorder did not know, taken for one "
        "byte each",
        sizeless, sizeless == 1 ? "" : "es"));
  }
  if (info.processes > 1) {
    info.warnings.push_back(fmt::format(
        "{} processes are in one trace: they are played in one address space; "
        "give the traces of each as an argument of its own",
        info.processes));
  }
  if (streams_.size() > 1 && !schedule_.has_value()) {
    info.warnings.push_back(fmt::format(
        "{} files are merged by their timestamps, taken at system calls and "
        "buffers of 32 KiB: the order in between is not known{}",
        streams_.size(),
        without_timestamp_ == 0
            ? std::string()
            : fmt::format("; {} without timestamps come{} first",
                          without_timestamp_,
                          without_timestamp_ == 1 ? "s" : "")));
  }
  if (!info.skipped.empty()) {
    std::string listed;
    for (const SkippedRecords& skipped : info.skipped) {
      listed += fmt::format("{}{} ({})", listed.empty() ? "" : ", ",
                            skipped.kind, skipped.count);
    }
    info.warnings.push_back(
        fmt::format("records without use here: {}", listed));
  }
  info.warnings.insert(info.warnings.end(), warnings_.begin(), warnings_.end());
}

}  // namespace lookaside
