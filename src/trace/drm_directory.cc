// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/trace/byte_source.h"
#include "lookaside/trace/drm_reader.h"
#include "lookaside/trace/drm_record.h"
#include "lookaside/trace/drm_schedule.h"
#include "lookaside/trace/read_head.h"

namespace lookaside {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSerialSchedule = "serial_schedule.bin.gz";
constexpr std::string_view kCpuSchedule = "cpu_schedule.bin.zip";

bool IsSchedule(std::string_view name) {
  return name.starts_with("serial_schedule.bin") ||
         name.starts_with("cpu_schedule.bin");
}

// The names of the files in it, sorted.
absl::StatusOr<std::vector<std::string>> FilesIn(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator it(path, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code unknown;
    if (it->is_regular_file(unknown)) names.push_back(it->path().filename());
  }
  if (error) {
    return NotFound("{}: cannot be listed: {}", path, error.message());
  }
  std::ranges::sort(names);
  return names;
}

struct Found {
  std::vector<DrmFile> files;
  std::string empty;  // the last empty file
  std::vector<std::string> others;
};

absl::StatusOr<Found> FindTraces(const std::string& path,
                                 const TraceOptions& options) {
  LOOKASIDE_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                             FilesIn(path));
  Found found;
  for (const std::string& name : names) {
    if (IsSchedule(name)) continue;
    const fs::path file = fs::path(path) / name;
    std::error_code unknown;
    if (fs::file_size(file, unknown) == 0) {
      found.empty = file;
      continue;
    }
    LOOKASIDE_ASSIGN_OR_RETURN(auto source,
                               ByteSource::Open(file, options.max_expansion));
    std::string head = ReadHead(*source);
    LOOKASIDE_RETURN_IF_ERROR(source->status());
    if (LooksLikeDrm32(head)) {
      return InvalidArgument("{}: {}", source->name(), kDrm32NotRead);
    }
    if (LooksLikeDrm(head)) {
      found.files.push_back({std::move(source), std::move(head)});
    } else {
      found.others.push_back(name);
    }
  }
  return found;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

absl::Status NoTrace(const std::string& path) {
  if (IsDirectory(fs::path(path) / "raw")) {
    return InvalidArgument(
        "{}: holds a raw trace only: make it a final one first (drraw2trace "
        "-indir {})",
        path, path);
  }
  return InvalidArgument(
      "{}: is a directory without a drmemtrace final trace in it or in its "
      "folder trace",
      path);
}

absl::StatusOr<std::optional<std::vector<DrmSlice>>> ReadSchedule(
    const std::string& path, const TraceOptions& options) {
  if (options.order == ThreadOrder::kTimestamps) return std::nullopt;
  const std::string_view name = options.order == ThreadOrder::kCpuSchedule
                                    ? kCpuSchedule
                                    : kSerialSchedule;
  LOOKASIDE_ASSIGN_OR_RETURN(
      auto source,
      ByteSource::Open(fs::path(path) / name, options.max_expansion));
  LOOKASIDE_ASSIGN_OR_RETURN(std::vector<DrmSlice> slices,
                             ReadDrmSchedule(*source));
  return std::optional(std::move(slices));
}

}  // namespace

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenDrmDirectory(
    const std::string& path, const TraceOptions& options) {
  const std::string inner = fs::path(path) / "trace";
  const std::string& place = IsDirectory(inner) ? inner : path;
  LOOKASIDE_ASSIGN_OR_RETURN(Found found, FindTraces(place, options));
  if (found.files.empty()) return NoTrace(path);
  // It may be what is left of a thread.
  if (!found.empty.empty()) return InvalidArgument("{}: is empty", found.empty);
  LOOKASIDE_ASSIGN_OR_RETURN(auto schedule, ReadSchedule(place, options));
  auto reader = std::make_unique<DrmReader>(path, std::move(found.files),
                                            std::move(schedule));
  if (!found.others.empty()) {
    reader->AddWarning(
        fmt::format("files of the directory that are no traces "
                    "are not read: {}",
                    Joined(found.others)));
  }
  return reader;
}

}  // namespace lookaside
