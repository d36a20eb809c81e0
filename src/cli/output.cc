// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/output.h"

#include <algorithm>
#include <thread>

#include "lookaside/base/status.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/config/config_loader.h"

namespace lookaside {

absl::Status CheckResultFiles(const Arguments& arguments) {
  if (NameOneFile(arguments.json, arguments.csv)) {
    return InvalidArgument("--json {} and --csv {} name one file",
                           arguments.json, arguments.csv);
  }
  LOOKASIDE_RETURN_IF_ERROR(
      CheckResultFile(arguments.json, InputsOf(arguments)));
  return CheckResultFile(arguments.csv, InputsOf(arguments));
}

bool TakesStandardOutput(const Arguments& arguments) {
  return arguments.json == "-" || arguments.csv == "-";
}

unsigned JobsOf(const Arguments& arguments) {
  if (arguments.jobs != 0) return static_cast<unsigned>(arguments.jobs);
  return std::max(1u, std::thread::hardware_concurrency());
}

absl::Status ViolationsOf(const CheckCounters& checks) {
  const uint64_t violations = checks.violations();
  if (violations == 0) return absl::OkStatus();
  std::string which;
  for (size_t i = 0; i < kChecks; ++i) {
    if (checks.by_check[i] == 0) continue;
    which += fmt::format("{}{}", which.empty() ? "" : ", ",
                         Name(static_cast<Check>(i)));
  }
  return absl::AbortedError(
      fmt::format("{} violation{} of {}; 'checks' in the result tells more",
                  violations, violations == 1 ? "" : "s", which));
}

absl::Status WithTraceName(const absl::Status& error,
                           const TraceReader& reader) {
  const std::string name = reader.info().name;
  const std::string message = Message(error);
  if (message.starts_with(name)) return error;
  return absl::Status(error.code(), fmt::format("{}: {}", name, message));
}

std::string MachineLine(const ConfigRequest& request,
                        const LoadedConfig& loaded) {
  std::string line = !request.cpu.empty()    ? request.cpu
                     : !request.file.empty() ? request.file
                                             : std::string(kDefaultPreset);
  if (!request.cpu.empty() && !request.file.empty()) {
    line += " over " + request.file;
  }
  for (const std::string& set : request.sets) line += ", " + set;
  if (!loaded.description.empty()) line += ": " + loaded.description;
  return line;
}

}  // namespace lookaside
