// SPDX-License-Identifier: Apache-2.0
//
// Opens a trace of any format that is read, decided by its content unless the
// options say which: a native trace (.lkt), Valgrind lackey text or a final
// trace of DynamoRIO's drmemtrace, plain or compressed (trace/decoder.h, zip);
// a directory of drmemtrace's (trace/drm_directory.h).
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto reader, OpenTrace("sort.lackey.zst"));
//   while (size_t n = reader->Read(buffer)) Use({buffer.data(), n});
//   LOOKASIDE_RETURN_IF_ERROR(reader->status());
#ifndef LOOKASIDE_TRACE_OPEN_TRACE_H_
#define LOOKASIDE_TRACE_OPEN_TRACE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lookaside/trace/trace_options.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// "-" is standard input.
absl::StatusOr<std::unique_ptr<TraceReader>> OpenTrace(
    const std::string& path, const TraceOptions& options = {});

// `bytes` may be compressed and must outlive the reader.
absl::StatusOr<std::unique_ptr<TraceReader>> OpenTraceFromMemory(
    std::string name, std::string_view bytes, const TraceOptions& options = {});

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_OPEN_TRACE_H_
