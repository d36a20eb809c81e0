// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "lookaside/base/status.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/progress.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/replay/replayer.h"
#include "lookaside/report/format_number.h"
#include "lookaside/report/version.h"
#include "lookaside/trace/lkt_format.h"
#include "lookaside/trace/lkt_writer.h"
#include "lookaside/trace/trace_event.h"
#include "lookaside/trace/trace_reader.h"
#include "lookaside/workload/open_source.h"

namespace lookaside {
namespace {

absl::Status CheckOutput(const std::string& from, const std::string& to) {
  if (!to.ends_with(".lkt")) {
    return InvalidArgument(
        "{}: a trace is written in the native format alone, to a file whose "
        "name ends in .lkt",
        to);
  }
  if (NameOneFile(from, to)) {
    return InvalidArgument("{}: is the trace to be read itself", to);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunTraceConvert(const Arguments& arguments) {
  const std::string& from = arguments.traces.front();
  LOOKASIDE_RETURN_IF_ERROR(CheckOutput(from, arguments.output));
  LOOKASIDE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceReader> reader,
                             OpenSource(from, 0, arguments.reading));
  LktOrigin origin;
  origin.name = from;
  const TraceInfo before = reader->info();
  origin.format = RecordedAs(before);
  origin.setup_accesses = before.setup_accesses;
  origin.has_fetches = before.has_fetches;
  origin.tool = fmt::format("lookaside {}", kVersion);
  origin.command =
      fmt::format("lookaside trace convert {} {}", from, arguments.output);
  LOOKASIDE_ASSIGN_OR_RETURN(
      const std::unique_ptr<LktWriter> writer,
      LktWriter::Create(arguments.output, origin, arguments.level));
  std::vector<TraceEvent> buffer(kBufferEvents);
  {
    Progress progress;
    uint64_t events = 0;
    while (const size_t n = reader->Read(buffer)) {
      LOOKASIDE_RETURN_IF_ERROR(
          writer->Write({buffer.data(), n}, reader->calls()));
      progress.Update(events += n);
    }
  }
  LOOKASIDE_RETURN_IF_ERROR(reader->status());
  const TraceInfo info = reader->info();
  LOOKASIDE_RETURN_IF_ERROR(writer->Finish(info));
  const double bytes = static_cast<double>(writer->bytes());
  return WriteStandardOutput(fmt::format(
      "{}: {} accesses in {} bytes ({:.3f} an access)\n", arguments.output,
      Grouped(info.accesses), Grouped(writer->bytes()),
      info.accesses == 0 ? 0 : bytes / static_cast<double>(info.accesses)));
}

}  // namespace lookaside
