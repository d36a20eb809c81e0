// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/byte_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/trace/quoted.h"

namespace lookaside {
namespace {

constexpr size_t kMagicBytes = 6;

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(
    const std::string& path) {
  LOOKASIDE_ASSIGN_OR_RETURN(auto stored, StoredBytes::Open(path));
  return Create(std::move(stored));
}

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::FromMemory(
    std::string name, std::string_view bytes) {
  return Create(StoredBytes::FromMemory(std::move(name), bytes));
}

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Create(
    std::unique_ptr<StoredBytes> stored) {
  if (stored->Peek(kMagicBytes).empty()) {
    LOOKASIDE_RETURN_IF_ERROR(stored->status());
    return InvalidArgument("{}: is empty", stored->name());
  }
  return std::unique_ptr<ByteSource>(new ByteSource(std::move(stored)));
}

ByteSource::ByteSource(std::unique_ptr<StoredBytes> stored)
    : stored_(std::move(stored)),
      compression_(DetectCompression(stored_->Peek(kMagicBytes))),
      decoder_(MakeDecoder(compression_)) {}

size_t ByteSource::Read(std::span<char> to) {
  LOOKASIDE_DCHECK(!to.empty());
  if (!status_.ok()) return 0;
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
  if (decoder_ == nullptr) return absl::OkStatus();
  std::vector<char> unused(size_t{64} << 10);
  for (size_t total = 0; total < kMostBytes;) {
    const size_t count = Read(unused);
    if (count == 0) break;
    total += count;
  }
  return status_;
}

// What follows a complete member must be another one, or padding of xz.
absl::Status ByteSource::CheckInput(std::string_view input) const {
  if (input.empty() || !decoder_->at_boundary() ||
      DetectCompression(input) == compression_ ||
      (compression_ == Compression::kXz && input[0] == '\0')) {
    return absl::OkStatus();
  }
  return DataLoss("{}: byte {}: {} follows the end of the {} data", name(),
                  stored_->offset(), Quoted(input.substr(0, kMagicBytes)),
                  Name(compression_));
}

}  // namespace lookaside
