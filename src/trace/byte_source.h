// SPDX-License-Identifier: Apache-2.0
//
// The text of a trace: the stored bytes (trace/stored_bytes.h), decompressed
// if their first bytes say so. The name of the file decides nothing.
//
// Errors name the path and the offset among the stored bytes: a file that
// cannot be read or is empty, a corrupt or truncated compressed stream, and
// bytes after its end that begin no further member.
// Invariants: constant memory; what was handed out before an error is right
// as far as the format's check sums can tell; an error is sticky.
// Not thread-safe.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto source, ByteSource::Open(path));
//   while (size_t n = source->Read(buffer)) Use(buffer.data(), n);
//   LOOKASIDE_RETURN_IF_ERROR(source->status());
#ifndef LOOKASIDE_TRACE_BYTE_SOURCE_H_
#define LOOKASIDE_TRACE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/trace/decoder.h"
#include "lookaside/trace/stored_bytes.h"

namespace lookaside {

class ByteSource {
 public:
  // "-" is standard input.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path);

  // `bytes` may be compressed and must outlive the result.
  static absl::StatusOr<std::unique_ptr<ByteSource>> FromMemory(
      std::string name, std::string_view bytes);

  // Fills a prefix of `to` and returns its length; 0 at the end or on error.
  // REQUIRES: !to.empty().
  size_t Read(std::span<char> to);

  // Reads on, and says whether the rest, or at least its next GiB, has an
  // error: text that makes no sense may come of damage that only the check sum
  // at the end shows. OK at once if the bytes are not compressed.
  absl::Status CheckRest();

  const absl::Status& status() const { return status_; }
  const std::string& name() const { return stored_->name(); }
  Compression compression() const { return compression_; }

  // Of the bytes as stored; complete once Read has returned 0 and no error.
  uint64_t stored_size() const { return stored_->taken(); }
  std::string Xxh3() const { return stored_->Xxh3(); }

 private:
  explicit ByteSource(std::unique_ptr<StoredBytes> stored);

  static absl::StatusOr<std::unique_ptr<ByteSource>> Create(
      std::unique_ptr<StoredBytes> stored);

  size_t Copy(std::span<char> to);
  size_t Decompress(std::span<char> to);
  absl::Status CheckInput(std::string_view input) const;

  std::unique_ptr<StoredBytes> stored_;
  Compression compression_;
  std::unique_ptr<Decoder> decoder_;  // null if not compressed
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_BYTE_SOURCE_H_
