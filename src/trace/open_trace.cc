// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/open_trace.h"

#include <optional>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/trace/byte_source.h"
#include "lookaside/trace/decoder.h"
#include "lookaside/trace/drm_directory.h"
#include "lookaside/trace/drm_reader.h"
#include "lookaside/trace/drm_record.h"
#include "lookaside/trace/lackey_line.h"
#include "lookaside/trace/lackey_reader.h"
#include "lookaside/trace/lkt_reader.h"
#include "lookaside/trace/quoted.h"
#include "lookaside/trace/read_head.h"

namespace lookaside {
namespace {

static_assert(kHeadBytes <= LackeyReader::kMaxLineBytes);

using Opened = absl::StatusOr<std::unique_ptr<TraceReader>>;

absl::Status UnknownFormat(ByteSource& source, std::string_view head) {
  if (source.compression() == Compression::kNone) {
    if (const auto other = DetectOtherCompression(head)) {
      return InvalidArgument(
          "{}: is compressed by {}, which is not read; read are gzip, xz, "
          "zstd, lz4, bzip2, snappy and zip: unpack it first ({} FILE > TRACE)",
          source.name(), other->name, other->command);
    }
  }
  LOOKASIDE_RETURN_IF_ERROR(source.CheckRest());
  if (LooksLikeDrm32(head)) {
    return InvalidArgument("{}: {}", source.name(), kDrm32NotRead);
  }
  return InvalidArgument(
      "{}: is not a trace of a known format: it begins with {} ({}); read are: "
      "native traces (.lkt), Valgrind lackey text (--trace-mem=yes) and "
      "DynamoRIO's final drmemtrace traces, plain or compressed by gzip, xz, "
      "zstd, lz4, bzip2, snappy or zip",
      source.name(), Quoted(head.substr(0, head.find('\n'))),
      Name(source.compression()));
}

std::optional<TraceFormat> FormatOf(std::string_view head) {
  if (LooksLikeLkt(head)) return TraceFormat::kLkt;
  if (LooksLikeDrm(head)) return TraceFormat::kDrmemtrace;
  if (LooksLikeLackey(head)) return TraceFormat::kLackey;
  return std::nullopt;
}

Opened OpenSource(std::unique_ptr<ByteSource> source,
                  const TraceOptions& options) {
  const std::string head = ReadHead(*source);
  LOOKASIDE_RETURN_IF_ERROR(source->status());
  if (head.empty()) {
    return InvalidArgument("{}: is empty once decompressed ({})",
                           source->name(), Name(source->compression()));
  }
  const std::optional<TraceFormat> format =
      options.format.has_value() ? options.format : FormatOf(head);
  if (!format.has_value()) return UnknownFormat(*source, head);
  switch (*format) {
    case TraceFormat::kLkt:
      return LktReader::Open(std::move(source), head);
    case TraceFormat::kDrmemtrace:
      return std::make_unique<DrmReader>(std::move(source), head);
    case TraceFormat::kLackey:
      return std::make_unique<LackeyReader>(std::move(source), head);
  }
  return UnknownFormat(*source, head);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceReader>> OpenTrace(
    const std::string& path, const TraceOptions& options) {
  if (IsDirectory(path)) {
    if (options.format.value_or(TraceFormat::kDrmemtrace) !=
        TraceFormat::kDrmemtrace) {
      return InvalidArgument(
          "{}: is a directory; only drmemtrace's traces are directories", path);
    }
    return OpenDrmDirectory(path, options);
  }
  if (options.order != ThreadOrder::kTimestamps) {
    return InvalidArgument(
        "{}: is one file; a schedule orders the files of a directory "
        "(--thread-order)",
        path);
  }
  LOOKASIDE_ASSIGN_OR_RETURN(auto source,
                             ByteSource::Open(path, options.max_expansion));
  return OpenSource(std::move(source), options);
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenTraceFromMemory(
    std::string name, std::string_view bytes, const TraceOptions& options) {
  LOOKASIDE_ASSIGN_OR_RETURN(
      auto source,
      ByteSource::FromMemory(std::move(name), bytes, options.max_expansion));
  return OpenSource(std::move(source), options);
}

}  // namespace lookaside
