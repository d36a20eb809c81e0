// SPDX-License-Identifier: Apache-2.0
//
// The text of a trace: the stored bytes (trace/stored_bytes.h), decompressed
// if their first bytes say so. The name of the file decides nothing. The text
// of a zip is that of its members, one after another.
//
// Errors name the path and the offset among the stored bytes: a file that
// cannot be read or is empty, a corrupt or truncated compressed stream, and
// bytes after its end that begin no further member, and text that has grown to
// more than a given number of times what is stored (and kFreeBytes): a bomb.
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
#include "lookaside/trace/zip_parts.h"

namespace lookaside {

class ByteSource {
 public:
  // How many bytes of text a stored one may stand for. No gzip that holds
  // anything but repetition comes near.
  static constexpr uint64_t kMaxExpansion = 1000;
  // Text that may come of any number of stored bytes.
  static constexpr uint64_t kFreeBytes = uint64_t{64} << 20;

  // "-" is standard input, which cannot be a zip.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(
      const std::string& path, uint64_t max_expansion = kMaxExpansion);

  // `bytes` may be compressed and must outlive the result.
  static absl::StatusOr<std::unique_ptr<ByteSource>> FromMemory(
      std::string name, std::string_view bytes,
      uint64_t max_expansion = kMaxExpansion);

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
  // Of a zip: its members in their order; of anything else none.
  std::span<const ZipPart> parts() const;

  // Of the bytes as stored; complete once Read has returned 0 and no error.
  uint64_t stored_size() const { return stored_->taken(); }
  std::string Xxh3() const { return stored_->Xxh3(); }

 private:
  ByteSource(std::unique_ptr<StoredBytes> stored, uint64_t max_expansion);

  static absl::StatusOr<std::unique_ptr<ByteSource>> Create(
      std::unique_ptr<StoredBytes> stored, uint64_t max_expansion);

  size_t ReadAny(std::span<char> to);
  size_t Copy(std::span<char> to);
  size_t ReadParts(std::span<char> to);
  absl::Status CheckExpansion() const;
  size_t Decompress(std::span<char> to);
  absl::Status CheckInput(std::string_view input) const;

  std::unique_ptr<StoredBytes> stored_;
  Compression compression_;
  std::unique_ptr<Decoder> decoder_;  // null if not compressed, and of a zip
  std::unique_ptr<ZipParts> zip_;     // null of anything else
  const uint64_t max_expansion_;
  uint64_t produced_ = 0;
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_BYTE_SOURCE_H_
