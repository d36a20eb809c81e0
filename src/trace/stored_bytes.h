// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a trace as they are stored: of a file, of standard input ("-")
// or of a buffer in memory. Counts and fingerprints them (XXH3-128) as they
// are taken in, so that a trace is read once, from a pipe too.
//
// Leaves out: what the bytes mean (trace/byte_source.h decompresses them).
// Invariants: memory is constant whatever the length; an error is sticky.
// Not thread-safe.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto stored, StoredBytes::Open("a.lackey.gz"));
//   while (!stored->Peek(1).empty()) {
//     stored->Skip(Use(stored->Peek(1)));
//   }
//   LOOKASIDE_RETURN_IF_ERROR(stored->status());
#ifndef LOOKASIDE_TRACE_STORED_BYTES_H_
#define LOOKASIDE_TRACE_STORED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/base/digest.h"

namespace lookaside {

class StoredBytes {
 public:
  // The longest prefix that Peek can be asked for.
  static constexpr size_t kMaxPeek = 64;

  // "-" is standard input. Fails for what cannot be opened and for a
  // directory.
  static absl::StatusOr<std::unique_ptr<StoredBytes>> Open(
      const std::string& path);

  // `bytes` must outlive the result.
  static std::unique_ptr<StoredBytes> FromMemory(std::string name,
                                                 std::string_view bytes);

  ~StoredBytes();
  StoredBytes(const StoredBytes&) = delete;
  StoredBytes& operator=(const StoredBytes&) = delete;

  // The bytes that come next: at least `least` of them unless the end (or an
  // error) comes first. Valid until the next call.
  // REQUIRES: 1 <= least <= kMaxPeek.
  std::string_view Peek(size_t least);

  // REQUIRES: count is at most the size of the last Peek.
  void Skip(size_t count);

  const absl::Status& status() const { return status_; }
  const std::string& name() const { return name_; }

  // The offset of the byte that comes next.
  uint64_t offset() const { return taken_ - (end_ - begin_); }
  // Bytes taken in so far, and their fingerprint; of the whole once Peek has
  // returned nothing.
  uint64_t taken() const { return taken_; }
  std::string Xxh3() const { return digest_.Finish().ToString(); }

 private:
  StoredBytes(std::string name, int file, std::string_view memory);

  void Fill();
  size_t TakeFromFile(char* to, size_t room);
  size_t TakeFromMemory(char* to, size_t room);

  const std::string name_;
  const int file_;           // -1: from memory
  std::string_view memory_;  // not yet taken
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of what is not yet skipped
  size_t end_ = 0;
  uint64_t taken_ = 0;
  bool at_end_ = false;
  Digest digest_;
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_STORED_BYTES_H_
