// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/zip_parts.h"

#include <zip.h>

#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

absl::Status NoArchive(const std::string& name, zip_error_t& error) {
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  return DataLoss(
      "{}: is no whole zip archive: {}; its directory is at its end, so the "
      "file may be truncated",
      name, why);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ZipParts>> ZipParts::Open(
    const std::string& path) {
  int code = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive != nullptr) return Create(path, archive);
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  return NoArchive(path, error);
}

absl::StatusOr<std::unique_ptr<ZipParts>> ZipParts::FromMemory(
    std::string name, std::string_view bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source =
      zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  LOOKASIDE_CHECK(source != nullptr);
  zip_t* const archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive != nullptr) return Create(std::move(name), archive);
  zip_source_free(source);
  return NoArchive(name, error);
}

absl::StatusOr<std::unique_ptr<ZipParts>> ZipParts::Create(std::string name,
                                                           zip_t* archive) {
  std::unique_ptr<ZipParts> parts(new ZipParts(std::move(name), archive));
  LOOKASIDE_RETURN_IF_ERROR(parts->List());
  return parts;
}

absl::Status ZipParts::List() {
  const zip_int64_t entries = zip_get_num_entries(archive_, 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const zip_uint64_t index = static_cast<zip_uint64_t>(i);
    zip_stat_t about;
    if (zip_stat_index(archive_, index, 0, &about) != 0 ||
        (about.valid & ZIP_STAT_NAME) == 0 ||
        (about.valid & ZIP_STAT_SIZE) == 0) {
      return DataLoss("{}: member {} of the zip has no name or no size", name_,
                      i + 1);
    }
    const std::string_view member = about.name;
    if (member.ends_with('/')) continue;
    parts_.push_back({std::string(member), about.size});
    index_.push_back(index);
  }
  return absl::OkStatus();
}

ZipParts::~ZipParts() {
  if (file_ != nullptr) zip_fclose(file_);
  zip_discard(archive_);
}

bool ZipParts::Begin() {
  if (next_ == parts_.size()) return false;
  file_ = zip_fopen_index(archive_, index_[next_], 0);
  ++next_;
  taken_ = 0;
  if (file_ == nullptr) Fail(zip_strerror(archive_));
  return file_ != nullptr;
}

absl::Status ZipParts::End() {
  zip_fclose(std::exchange(file_, nullptr));
  const ZipPart& part = parts_[next_ - 1];
  if (taken_ == part.bytes) return absl::OkStatus();
  return DataLoss("{}: {} of the zip has {} bytes; its directory says {}",
                  name_, part.name, taken_, part.bytes);
}

void ZipParts::Fail(std::string_view what) {
  status_ = DataLoss("{}: {} of the zip: byte {} unpacked: {}", name_,
                     parts_[next_ - 1].name, taken_, what);
}

size_t ZipParts::Read(std::span<char> to) {
  LOOKASIDE_DCHECK(!to.empty());
  while (status_.ok() && (file_ != nullptr || Begin())) {
    const zip_int64_t count = zip_fread(file_, to.data(), to.size());
    if (count < 0) {
      Fail(zip_error_strerror(zip_file_get_error(file_)));
      return 0;
    }
    taken_ += static_cast<uint64_t>(count);
    if (count > 0) return static_cast<size_t>(count);
    status_ = End();
  }
  return 0;
}

}  // namespace lookaside
