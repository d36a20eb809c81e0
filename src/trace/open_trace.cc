// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/open_trace.h"

#include <cstddef>
#include <span>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/trace/byte_source.h"
#include "lookaside/trace/decoder.h"
#include "lookaside/trace/lackey_line.h"
#include "lookaside/trace/lackey_reader.h"
#include "lookaside/trace/lkt_reader.h"
#include "lookaside/trace/quoted.h"

namespace lookaside {
namespace {

constexpr size_t kHeadBytes = 4096;
static_assert(kHeadBytes <= LackeyReader::kMaxLineBytes);

// The first text, less than kHeadBytes only at the end or on error.
std::string ReadHead(ByteSource& source) {
  std::string head(kHeadBytes, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const size_t count = source.Read(std::span(head).subspan(size));
    if (count == 0) break;
    size += count;
  }
  head.resize(size);
  return head;
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenSource(
    std::unique_ptr<ByteSource> source) {
  const std::string head = ReadHead(*source);
  LOOKASIDE_RETURN_IF_ERROR(source->status());
  if (head.empty()) {
    return InvalidArgument("{}: is empty once decompressed ({})",
                           source->name(), Name(source->compression()));
  }
  if (LooksLikeLkt(head)) return LktReader::Open(std::move(source), head);
  if (source->compression() == Compression::kNone) {
    if (const auto other = DetectOtherCompression(head)) {
      return InvalidArgument(
          "{}: is compressed by {}, which is not read; read are gzip, xz, "
          "zstd, lz4, bzip2, snappy and zip: unpack it first ({} FILE > TRACE)",
          source->name(), other->name, other->command);
    }
  }
  if (!LooksLikeLackey(head)) {
    LOOKASIDE_RETURN_IF_ERROR(source->CheckRest());
    return InvalidArgument(
        "{}: is not a trace of a known format: it begins with {} ({}); read "
        "are: native traces (.lkt) and Valgrind lackey text (--trace-mem=yes), "
        "plain or compressed by gzip, xz or zstd",
        source->name(), Quoted(head.substr(0, head.find('\n'))),
        Name(source->compression()));
  }
  return std::make_unique<LackeyReader>(std::move(source), head);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceReader>> OpenTrace(
    const std::string& path) {
  LOOKASIDE_ASSIGN_OR_RETURN(auto source, ByteSource::Open(path));
  return OpenSource(std::move(source));
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenTraceFromMemory(
    std::string name, std::string_view bytes) {
  LOOKASIDE_ASSIGN_OR_RETURN(auto source,
                             ByteSource::FromMemory(std::move(name), bytes));
  return OpenSource(std::move(source));
}

}  // namespace lookaside
