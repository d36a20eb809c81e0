// SPDX-License-Identifier: Apache-2.0
//
// A file that is whole or not there: it is written under another name beside
// its own, "NAME.PID.part", and renamed at the end. A symbolic link stays one;
// a device or pipe is written as it is. A writer that is killed leaves the
// part, which no reader takes for the file.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto file, AtomicFile::Create("out.lkt"));
//   LOOKASIDE_RETURN_IF_ERROR(file->Append(bytes));   // as often as needed
//   LOOKASIDE_RETURN_IF_ERROR(file->Commit());
#ifndef LOOKASIDE_BASE_ATOMIC_FILE_H_
#define LOOKASIDE_BASE_ATOMIC_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace lookaside {

// What `path` is in the end: where symbolic links lead, also if to nothing yet.
std::string LinkTarget(const std::string& path);

// Whether a file can be created or replaced there, as far as that can be told
// without writing.
absl::Status CheckWritable(const std::string& path);

class AtomicFile {
 public:
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(
      const std::string& path);

  // Without Commit, the file is as it was before.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Errors name the path and say what the system says.
  absl::Status Append(std::string_view bytes);
  // REQUIRES: no call before it failed.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string target, std::string written,
             int file);

  const std::string path_;    // as given
  const std::string target_;  // that it becomes; empty: a device
  const std::string written_;
  int file_;  // -1: closed
};

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_ATOMIC_FILE_H_
