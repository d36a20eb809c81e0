// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "lookaside/base/address.h"
#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

constexpr size_t kBufferBytes = 16384 * kDrmRecordBytes;
constexpr size_t kBundleBytes = 8;  // lengths that a record holds

// First and last byte on the same side of the canonical hole.
bool IsCanonicalRange(uint64_t address, uint16_t size) {
  const auto top = static_cast<int64_t>(address) >> 56;
  const auto last = static_cast<int64_t>(address + size - 1) >> 56;
  return static_cast<uint64_t>(top + 1) <= 1 && top == last;
}

bool IsInstruction(uint16_t type) {
  return (type >= kDrmInstr && type <= kDrmReturn) || type == kDrmSysenter ||
         type == kDrmTakenJump || type == kDrmUntakenJump || type == kDrmBundle;
}

// Bundles aside, which need the instruction before them.
bool IsAccess(uint16_t type) {
  return type == kDrmRead || type == kDrmWrite ||
         (IsInstruction(type) && type != kDrmBundle);
}

uint8_t KindOf(uint16_t type) {
  const EventKind kind = type == kDrmRead    ? EventKind::kLoad
                         : type == kDrmWrite ? EventKind::kStore
                                             : EventKind::kFetch;
  return static_cast<uint8_t>(kind);
}

bool IsOnlyCounted(uint16_t type) {
  return !IsAccess(type) && type != kDrmBundle && type != kDrmNoFetch &&
         type != kDrmMarker && (type < kDrmThread || type > kDrmFooter);
}

bool MayBeEvent(const DrmRecord& record) {
  if (record.type != kDrmMarker) {
    return IsAccess(record.type) || record.type == kDrmBundle;
  }
  return record.size == kDrmSyscall || record.size == kDrmFuncRetVal;
}

}  // namespace

DrmStream::DrmStream(std::unique_ptr<ByteSource> source, std::string_view head,
                     uint32_t number, DrmCommon* common)
    : source_(std::move(source)),
      number_(number),
      common_(common),
      bytes_(kBufferBytes),
      size_(head.size()) {
  LOOKASIDE_CHECK(head.size() <= kBufferBytes);
  std::copy(head.begin(), head.end(), bytes_.begin());
  for (const ZipPart& part : source_->parts()) {
    part_ends_.push_back((part_ends_.empty() ? 0 : part_ends_.back()) +
                         part.bytes);
  }
  Glance();
}

// Accesses are looked at closer until their thread is known, and in the kernel;
// everything is before the header and behind the footer.
void DrmStream::Glance() {
  glances_.fill(kLook);
  if (!begun_ || after_footer_) return;
  for (uint16_t type = 0; type < kDrmTypes; ++type) {
    if (IsAccess(type)) {
      if (thread_ != nullptr && !in_kernel()) glances_[type] = KindOf(type);
    } else if (IsOnlyCounted(type)) {
      glances_[type] = kCount;
    }
  }
}

void DrmStream::Start() {
  // Without room for an event only what comes before one is taken.
  std::vector<MemoryCall> none;
  Read({}, kNoLimit, none);
}

size_t DrmStream::Read(std::span<TraceEvent> events, uint64_t limit,
                       std::vector<MemoryCall>& calls) {
  constexpr auto kFetch = static_cast<uint8_t>(EventKind::kFetch);
  size_t count = 0;
  while (status_.ok() && !at_end_) {
    if (begin_ == end_ && !Refill()) break;
    const DrmRecord record = LoadDrmRecord(bytes_.data() + begin_);
    const uint8_t glance =
        record.type < kGlances ? glances_[record.type] : kLook;
    if (glance == kCount) {
      ++common_->tally.types[record.type];
      begin_ += kDrmRecordBytes;
      continue;
    }
    if (glance < kCount && record.size > 0 && count < events.size() &&
        IsCanonicalRange(record.value, record.size)) {
      if (glance == kFetch) {
        if (instructions_ == limit) break;
        ++instructions_;
        next_pc_ = record.value + record.size;
      }
      events[count++] = {VirtAddr(record.value), record.size,
                         static_cast<EventKind>(glance), 0, thread_number_};
      begin_ += kDrmRecordBytes;
      continue;
    }
    if (IsInstruction(record.type) && instructions_ == limit) break;
    if (count == events.size() && MayBeEvent(record)) break;
    TraceEvent event;
    const Next next = TakeOther(record, &event, calls);
    if (next == Next::kEvent) events[count++] = event;
    if (next == Next::kPause || next == Next::kStop) break;
  }
  return count;
}

// One record, or an instruction of a bundle.
DrmStream::Next DrmStream::TakeOther(const DrmRecord& record, TraceEvent* event,
                                     std::vector<MemoryCall>& calls) {
  if (!begun_ && record.type != kDrmHeader) {
    return Fail(
        fmt::format("a record of type {} is where a trace has its header (25)",
                    record.type));
  }
  if (std::exchange(after_footer_, false)) {
    if ((file_type_ & kDrmCoreSharded) == 0) {
      return Fail("records follow the footer");
    }
    Glance();
  }
  const Next next = Take(record, event, calls);
  if (next != Next::kStop && of_bundle_ == 0) begin_ += kDrmRecordBytes;
  return next;
}

DrmStream::Next DrmStream::Take(const DrmRecord& record, TraceEvent* event,
                                std::vector<MemoryCall>& calls) {
  switch (record.type) {
    case kDrmBundle:
      return TakeBundle(record, event);
    case kDrmNoFetch:
      next_pc_ = record.value + record.size;
      ++common_->tally.types[kDrmNoFetch];
      return Next::kNothing;
    case kDrmThread:
    case kDrmThreadExit:
    case kDrmPid:
      return TakeThread(record);
    case kDrmHeader:
      return TakeHeader(record.value);
    case kDrmFooter:
      after_footer_ = true;
      in_syscall_ = in_switch_ = false;
      Glance();
      return Next::kNothing;
    case kDrmMarker:
      return TakeMarker(record, event, calls);
    default:
      break;
  }
  if (IsAccess(record.type)) return TakeAccess(record, event);
  if (record.type >= kDrmTypes) {
    return Fail(fmt::format("a record of the unknown type {}; {} is the last",
                            record.type, kDrmTypes - 1));
  }
  ++common_->tally.types[record.type];
  return Next::kNothing;
}

DrmStream::Next DrmStream::TakeAccess(const DrmRecord& record,
                                      TraceEvent* event) {
  const bool instruction = IsInstruction(record.type);
  if (instruction) {
    ++instructions_;
    next_pc_ = record.value + record.size;
  }
  DrmTally& tally = common_->tally;
  if (in_kernel()) {
    ++(instruction ? tally.kernel_instructions : tally.kernel_accesses);
    return Next::kNothing;
  }
  const uint16_t size = std::max<uint16_t>(record.size, 1);
  if (!IsCanonicalRange(record.value, size)) {
    return Fail(fmt::format(
        "an access of {} bytes at {:#x} reaches outside the canonical "
        "addresses of 57 bits",
        record.size, record.value));
  }
  tally.sizeless += record.size == 0 ? 1u : 0u;
  *event = {VirtAddr(record.value), size,
            static_cast<EventKind>(KindOf(record.type)), 0, Thread().number};
  return Next::kEvent;
}

// The value's bytes are the lengths of the instructions, which follow the last
// one without a gap.
DrmStream::Next DrmStream::TakeBundle(const DrmRecord& record,
                                      TraceEvent* event) {
  if (record.size == 0 || record.size > kBundleBytes) {
    return Fail(fmt::format("a bundle of {} instructions; 1 to {} fit",
                            record.size, kBundleBytes));
  }
  if (next_pc_ == 0) return Fail("a bundle has no instruction before it");
  const auto size =
      static_cast<uint16_t>((record.value >> (8 * of_bundle_)) & 0xff);
  if (size == 0) return Fail("an instruction of a bundle has no bytes");
  of_bundle_ = (of_bundle_ + 1) % record.size;
  return TakeAccess({kDrmInstr, size, next_pc_}, event);
}

DrmStream::Next DrmStream::TakeHeader(uint64_t version) {
  if (version < kDrmLegacyVersion || version > kDrmLastVersion) {
    return Fail(
        fmt::format("version {} is not read; read are {} (legacy) to {}",
                    version, kDrmLegacyVersion, kDrmLastVersion));
  }
  begun_ = true;
  Glance();
  return Next::kNothing;
}

DrmStream::Next DrmStream::TakeThread(const DrmRecord& record) {
  if (record.type == kDrmPid) {
    pid_ = record.value;
    return Next::kNothing;
  }
  if (record.type == kDrmThread) {
    tid_ = record.value;
  } else {
    common_->threads.End(NumberSpace(), record.value);
  }
  thread_ = nullptr;
  Glance();
  return Next::kNothing;
}

DrmStream::Next DrmStream::TakeMarker(const DrmRecord& record,
                                      TraceEvent* event,
                                      std::vector<MemoryCall>& calls) {
  switch (record.size) {
    case kDrmTimestamp:
      timestamp_ = record.value;
      common_->tally.CountMarker(record.size);
      return Next::kPause;
    case kDrmFileType:
      file_type_ = record.value;
      common_->file_types |= record.value;
      return Next::kNothing;
    case kDrmVersion:
      return TakeHeader(record.value);
    case kDrmPageSize:
      return TakePageSize(record.value);
    case kDrmCacheLine:
    case kDrmChunkInstrs:
    case kDrmRecordOrdinal:
      return Next::kNothing;
    case kDrmChunkFooter:
      return TakeChunkFooter(record.value);
    case kDrmSyscall:
      return TakeSyscall(record.value, event, calls);
    case kDrmFuncId:
    case kDrmFuncRetAddr:
    case kDrmFuncArg:
    case kDrmFuncRetVal:
      return TakeFunction(record, event, calls);
    case kDrmSyscallTraceStart:
    case kDrmSyscallTraceEnd:
    case kDrmSwitchStart:
    case kDrmSwitchEnd:
      return TakeSection(record.size);
    default:
      common_->tally.CountMarker(record.size);
      return Next::kNothing;
  }
}

DrmStream::Next DrmStream::TakePageSize(uint64_t bytes) {
  if (bytes < kPageBytes || !std::has_single_bit(bytes)) {
    return Fail(
        fmt::format("pages of {} bytes; a power of two from {} on is "
                    "possible",
                    bytes, kPageBytes));
  }
  common_->page_bytes = std::max(common_->page_bytes, bytes);
  return Next::kNothing;
}

DrmStream::Next DrmStream::TakeChunkFooter(uint64_t chunk) {
  if (part_ends_.size() > 1 && chunk != part_) {
    return Fail(
        fmt::format("the footer of chunk {} is in chunk {}", chunk, part_));
  }
  if (part_ends_.size() > 1 &&
      offset_ + begin_ + kDrmRecordBytes != part_ends_[part_]) {
    return Fail("records follow the footer of a chunk");
  }
  after_chunk_footer_ = true;
  return Next::kNothing;
}

DrmStream::Next DrmStream::TakeSection(uint16_t marker) {
  common_->tally.CountMarker(marker);
  const bool start =
      marker == kDrmSyscallTraceStart || marker == kDrmSwitchStart;
  const bool of_syscall =
      marker == kDrmSyscallTraceStart || marker == kDrmSyscallTraceEnd;
  (of_syscall ? in_syscall_ : in_switch_) = start;
  Glance();
  return Next::kNothing;
}

DrmStream::Next DrmStream::TakeSyscall(uint64_t number, TraceEvent* event,
                                       std::vector<MemoryCall>& calls) {
  DrmThread& thread = Thread();
  DrmCall& call = thread.call;
  TakeOutcome(call.Abandon(), thread, event, calls);
  call.Begin(number, arch());
  if (!call.kind().has_value()) {
    ++common_->tally.other_system_calls;
    return Next::kNothing;
  }
  if (*call.kind() != CallKind::kExit && *call.kind() != CallKind::kExitGroup) {
    return Next::kNothing;
  }
  return TakeOutcome(call.Exit(), thread, event, calls);
}

DrmStream::Next DrmStream::TakeFunction(const DrmRecord& record,
                                        TraceEvent* event,
                                        std::vector<MemoryCall>& calls) {
  if (record.size == kDrmFuncId) {
    in_function_ = record.value < kDrmSyscallFunc;
    if (!in_function_) TakeFunctionId(record.value - kDrmSyscallFunc);
  }
  DrmThread& thread = Thread();
  if (in_function_ || record.size == kDrmFuncRetAddr || !thread.call.begun()) {
    ++common_->tally.function_markers;
    return Next::kNothing;
  }
  if (record.size == kDrmFuncArg) thread.call.AddArgument(record.value);
  if (record.size != kDrmFuncRetVal) return Next::kNothing;
  return TakeOutcome(TakeReturn(thread.call, record.value), thread, event,
                     calls);
}

// A trace without system-call markers, or the return from a call that a signal
// handler's calls came in between of.
void DrmStream::TakeFunctionId(uint64_t number) {
  DrmThread& thread = Thread();
  if (thread.call.is(number)) return;
  std::vector<MemoryCall> none;
  TraceEvent event;
  TakeOutcome(thread.call.Abandon(), thread, &event, none);
  thread.call.Begin(number, arch());
}

DrmCall::Outcome DrmStream::TakeReturn(DrmCall& call, uint64_t value) {
  if (value != 0) return call.Return(value);
  // It failed; why, the next record may say.
  Have(2 * kDrmRecordBytes);
  SetWindow();
  int32_t error = kMostErrno;
  if (begin_ + 2 * kDrmRecordBytes <= end_) {
    const DrmRecord next =
        LoadDrmRecord(bytes_.data() + begin_ + kDrmRecordBytes);
    if (next.type == kDrmMarker && next.size == kDrmSyscallFailed) {
      if (next.value > 0 && next.value < kMostErrno) {
        error = static_cast<int32_t>(next.value);
      }
      begin_ += kDrmRecordBytes;
    }
  }
  return call.Fail(error);
}

DrmStream::Next DrmStream::TakeOutcome(DrmCall::Outcome outcome,
                                       const DrmThread& thread,
                                       TraceEvent* event,
                                       std::vector<MemoryCall>& calls) {
  if (outcome == DrmCall::Outcome::kNone) return Next::kNothing;
  common_->tally.CountOutcome(outcome, *thread.call.kind());
  if (outcome != DrmCall::Outcome::kCall) return Next::kNothing;
  *event = {VirtAddr(calls.size()), 0, EventKind::kCall, 0, thread.number};
  calls.push_back(thread.call.call());
  calls.back().thread = thread.number;
  calls.back().process = thread.process;
  return Next::kEvent;
}

DrmThread& DrmStream::Thread() {
  if (thread_ == nullptr) {
    thread_ = &common_->threads.Find(NumberSpace(), tid_, pid_);
    thread_number_ = thread_->number;
    Glance();
  }
  return *thread_;
}

uint32_t DrmStream::NumberSpace() const {
  return (file_type_ & kDrmCoreSharded) != 0 ? ~uint32_t{0} : number_;
}

DrmArch DrmStream::arch() const {
  if ((file_type_ & kDrm32Bit) != 0) return DrmArch::kUnknown;
  return (file_type_ & kDrmAarch64) != 0 ? DrmArch::kAarch64 : DrmArch::kX86;
}

void DrmStream::Have(size_t bytes) {
  if (size_ - begin_ >= bytes) return;
  std::copy(bytes_.begin() + static_cast<ptrdiff_t>(begin_),
            bytes_.begin() + static_cast<ptrdiff_t>(size_), bytes_.begin());
  offset_ += begin_;
  size_ -= begin_;
  begin_ = 0;
  while (size_ < bytes) {
    const size_t count = source_->Read(std::span(bytes_).subspan(size_));
    if (count == 0) break;
    size_ += count;
  }
}

void DrmStream::SetWindow() {
  size_t window = size_;
  if (part_ < part_ends_.size()) {
    window = static_cast<size_t>(
        std::min<uint64_t>(window, part_ends_[part_] - offset_));
  }
  end_ = begin_ + (window - begin_) / kDrmRecordBytes * kDrmRecordBytes;
}

// More records; false at the end and on an error.
bool DrmStream::Refill() {
  while (part_ + 1 < part_ends_.size() &&
         part_ends_[part_] == offset_ + begin_) {
    TakePartEnd();
    if (!status_.ok()) return false;
    ++part_;
  }
  Have(kDrmRecordBytes);
  SetWindow();
  if (begin_ < end_) return true;
  if (!source_->status().ok()) {
    status_ = source_->status();
  } else if (size_ > begin_) {
    Fail("the trace ends within a record: it is truncated");
  } else {
    TakeEnd();
  }
  return false;
}

void DrmStream::TakePartEnd() {
  if (std::exchange(after_chunk_footer_, false)) return;
  Fail(fmt::format("{} ends without a chunk footer: it is truncated",
                   source_->parts()[part_].name));
}

void DrmStream::TakeEnd() {
  if (after_footer_) {
    at_end_ = true;
    return;
  }
  Fail("the trace ends without its footer: it is truncated");
}

// Where the record at hand is.
std::string DrmStream::Place() const {
  const uint64_t at = offset_ + begin_;
  if (part_ < part_ends_.size()) {
    const uint64_t start = part_ == 0 ? 0 : part_ends_[part_ - 1];
    return fmt::format("{}: byte {} unpacked", source_->parts()[part_].name,
                       at - start);
  }
  return fmt::format(
      "byte {}{}", at,
      source_->compression() == Compression::kNone ? "" : " unpacked");
}

// What makes no sense may come of damaged compression.
DrmStream::Next DrmStream::Fail(std::string_view what) {
  const std::string text =
      fmt::format("{}: {}: {}", source_->name(), Place(), what);
  status_ = source_->CheckRest();
  if (status_.ok()) status_ = DataLoss("{}", text);
  return Next::kStop;
}

}  // namespace lookaside
