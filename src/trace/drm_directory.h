// SPDX-License-Identifier: Apache-2.0
//
// A directory that DynamoRIO wrote: the files in it (or in its folder trace/)
// that are drmemtrace final traces by their content, all read as one trace.
// What else is there is named in a warning, but for the schedules.
//
//   LOOKASIDE_ASSIGN_OR_RETURN(auto reader, OpenDrmDirectory(path, {}));
#ifndef LOOKASIDE_TRACE_DRM_DIRECTORY_H_
#define LOOKASIDE_TRACE_DRM_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lookaside/trace/trace_options.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

bool IsDirectory(const std::string& path);

absl::StatusOr<std::unique_ptr<TraceReader>> OpenDrmDirectory(
    const std::string& path, const TraceOptions& options);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DRM_DIRECTORY_H_
