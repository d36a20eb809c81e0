// SPDX-License-Identifier: Apache-2.0
//
// The members of a zip archive, one after another in the order of its
// directory, as DynamoRIO stores a trace in chunks (libzip; zip64 too).
//
// Leaves out: encrypted archives; names of folders, which hold nothing.
// Invariants: memory grows with the directory only; the size and the CRC-32 of
// each member are checked; an error is sticky. Not thread-safe.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto parts, ZipParts::Open("a.trace.zip"));
//   while (size_t n = parts->Read(buffer)) Use(buffer.data(), n);
//   LOOKASIDE_RETURN_IF_ERROR(parts->status());
#ifndef LOOKASIDE_TRACE_ZIP_PARTS_H_
#define LOOKASIDE_TRACE_ZIP_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct zip;
struct zip_error;
struct zip_file;

namespace lookaside {

struct ZipPart {
  std::string name;
  uint64_t bytes = 0;  // unpacked
};

class ZipParts {
 public:
  static absl::StatusOr<std::unique_ptr<ZipParts>> Open(
      const std::string& path);
  // `bytes` must outlive the result.
  static absl::StatusOr<std::unique_ptr<ZipParts>> FromMemory(
      std::string name, std::string_view bytes);

  ~ZipParts();
  ZipParts(const ZipParts&) = delete;
  ZipParts& operator=(const ZipParts&) = delete;

  // Fills a prefix of `to`; 0 at the end of the last member or on error.
  // REQUIRES: !to.empty().
  size_t Read(std::span<char> to);

  const absl::Status& status() const { return status_; }
  const std::vector<ZipPart>& parts() const { return parts_; }

 private:
  ZipParts(std::string name, struct zip* archive)
      : name_(std::move(name)), archive_(archive) {}

  static absl::StatusOr<std::unique_ptr<ZipParts>> Create(std::string name,
                                                          struct zip* archive);
  absl::Status List();
  bool Begin();
  absl::Status End();
  void Fail(std::string_view what);

  const std::string name_;
  struct zip* const archive_;
  std::vector<ZipPart> parts_;
  std::vector<uint64_t> index_;  // in the archive, of each part
  size_t next_ = 0;              // part to begin
  struct zip_file* file_ = nullptr;
  uint64_t taken_ = 0;  // of the part at hand
  absl::Status status_;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_ZIP_PARTS_H_
