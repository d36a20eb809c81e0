// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/byte_source.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/trace/quoted.h"

namespace lookaside {
namespace {

constexpr size_t kMagicBytes = 6;

uint64_t TimesTen(uint64_t value) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return value > kMost / 10 ? kMost : value * 10;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(
    const std::string& path, uint64_t max_expansion) {
  LOOKASIDE_ASSIGN_OR_RETURN(auto stored, StoredBytes::Open(path));
  LOOKASIDE_ASSIGN_OR_RETURN(auto source,
                             Create(std::move(stored), max_expansion));
  if (source->compression_ != Compression::kZip) return source;
  if (path == "-") {
    return InvalidArgument(
        "-: is a zip, whose directory is at its end: it cannot be read from "
        "standard input; give the name of the file");
  }
  LOOKASIDE_ASSIGN_OR_RETURN(source->zip_, ZipParts::Open(path));
  return source;
}

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::FromMemory(
    std::string name, std::string_view bytes, uint64_t max_expansion) {
  LOOKASIDE_ASSIGN_OR_RETURN(
      auto source, Create(StoredBytes::FromMemory(name, bytes), max_expansion));
  if (source->compression_ == Compression::kZip) {
    LOOKASIDE_ASSIGN_OR_RETURN(source->zip_,
                               ZipParts::FromMemory(std::move(name), bytes));
  }
  return source;
}

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Create(
    std::unique_ptr<StoredBytes> stored, uint64_t max_expansion) {
  if (stored->Peek(kMagicBytes).empty()) {
    LOOKASIDE_RETURN_IF_ERROR(stored->status());
    return InvalidArgument("{}: is empty", stored->name());
  }
  return std::unique_ptr<ByteSource>(
      new ByteSource(std::move(stored), max_expansion));
}

ByteSource::ByteSource(std::unique_ptr<StoredBytes> stored,
                       uint64_t max_expansion)
    : stored_(std::move(stored)),
      compression_(DetectCompression(stored_->Peek(kMagicBytes))),
      decoder_(MakeDecoder(compression_)),
      max_expansion_(max_expansion) {
  LOOKASIDE_CHECK(max_expansion > 0);
}

std::span<const ZipPart> ByteSource::parts() const {
  if (zip_ == nullptr) return {};
  return zip_->parts();
}

size_t ByteSource::Read(std::span<char> to) {
  LOOKASIDE_DCHECK(!to.empty());
  if (!status_.ok()) return 0;
  const size_t count = ReadAny(to);
  produced_ += count;
  status_.Update(CheckExpansion());
  return status_.ok() ? count : 0;
}

size_t ByteSource::ReadAny(std::span<char> to) {
  if (zip_ != nullptr) return ReadParts(to);
  return decoder_ == nullptr ? Copy(to) : Decompress(to);
}

size_t ByteSource::Copy(std::span<char> to) {
  const std::string_view bytes = stored_->Peek(1);
  const size_t count = std::min(bytes.size(), to.size());
  std::copy_n(bytes.data(), count, to.data());
  stored_->Skip(count);
  if (count == 0) status_ = stored_->status();
  return count;
}

// libzip reads for itself; what is stored is gone through beside it, a little
// for each piece of text and the rest at the end, for its fingerprint.
size_t ByteSource::ReadParts(std::span<char> to) {
  stored_->Skip(stored_->Peek(1).size());
  const size_t count = zip_->Read(to);
  if (count > 0) return count;
  status_ = zip_->status();
  while (status_.ok() && !stored_->Peek(1).empty()) {
    stored_->Skip(stored_->Peek(1).size());
  }
  if (status_.ok()) status_ = stored_->status();
  return 0;
}

absl::Status ByteSource::CheckExpansion() const {
  if (produced_ <= kFreeBytes ||
      produced_ / max_expansion_ <= stored_->taken()) {
    return absl::OkStatus();
  }
  return DataLoss(
      "{}: byte {}: the {} data has grown to {} bytes, more than {} times what "
      "is stored, as a bomb does; if it is a trace all the same, read it with "
      "--max-expansion {}",
      name(), stored_->offset(), Name(compression_), produced_, max_expansion_,
      TimesTen(max_expansion_));
}

size_t ByteSource::Decompress(std::span<char> to) {
  for (;;) {
    const std::string_view input = stored_->Peek(kMagicBytes);
    if (input.empty() && (decoder_->at_boundary() || !stored_->status().ok())) {
      status_ = stored_->status();
      return 0;
    }
    status_ = CheckInput(input);
    if (!status_.ok()) return 0;
    const DecodeStep step = decoder_->Decode(input, to);
    stored_->Skip(step.consumed);
    if (!step.error.empty()) {
      status_ = DataLoss("{}: byte {}: corrupt {} data: {}", name(),
                         stored_->offset(), Name(compression_), step.error);
      return 0;
    }
    if (step.produced > 0) return step.produced;
    if (input.empty()) {
      status_ = DataLoss(
          "{}: byte {}: the {} data ends too early: the file is truncated",
          name(), stored_->offset(), Name(compression_));
      return 0;
    }
  }
}

absl::Status ByteSource::CheckRest() {
  constexpr size_t kMostBytes = size_t{1} << 30;
  if (compression_ == Compression::kNone) return absl::OkStatus();
  std::vector<char> unused(size_t{64} << 10);
  for (size_t total = 0; total < kMostBytes;) {
    const size_t count = Read(unused);
    if (count == 0) break;
    total += count;
  }
  return status_;
}

// What follows a complete member must be another one, or padding of xz. Snappy
// has no members: any chunk may follow, which its decoder judges.
absl::Status ByteSource::CheckInput(std::string_view input) const {
  if (input.empty() || !decoder_->at_boundary() ||
      compression_ == Compression::kSnappy ||
      DetectCompression(input) == compression_ ||
      (compression_ == Compression::kXz && input[0] == '\0')) {
    return absl::OkStatus();
  }
  return DataLoss("{}: byte {}: {} follows the end of the {} data", name(),
                  stored_->offset(), Quoted(input.substr(0, kMagicBytes)),
                  Name(compression_));
}

}  // namespace lookaside
