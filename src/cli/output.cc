// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <thread>

#include "lookaside/base/status.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/machine/machine_config.h"

namespace lookaside {

absl::Status CheckResultFiles(const Arguments& arguments) {
  if (NameOneFile(arguments.json, arguments.csv)) {
    return InvalidArgument("--json {} and --csv {} name one file",
                           arguments.json, arguments.csv);
  }
  LOOKASIDE_RETURN_IF_ERROR(
      CheckResultFile("--json", arguments.json, InputsOf(arguments)));
  return CheckResultFile("--csv", arguments.csv, InputsOf(arguments));
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

namespace {

// What a description counts.
bool ChangesTopology(std::span<const std::string> sets) {
  return std::ranges::any_of(sets, [](const std::string& set) {
    return set.starts_with("machine.sockets") ||
           set.starts_with("machine.cores_per_socket") ||
           set.starts_with("machine.threads_per_core");
  });
}

std::string TopologyText(const TopologyConfig& machine) {
  const uint32_t cores = machine.sockets * machine.cores_per_socket;
  return fmt::format("{} core{}, {} thread{}", cores, cores == 1 ? "" : "s",
                     machine.cpus(), machine.cpus() == 1 ? "" : "s");
}

}  // namespace

std::string MachineLine(const ConfigRequest& request,
                        const LoadedConfig& loaded) {
  std::string line = !request.cpu.empty()    ? request.cpu
                     : !request.file.empty() ? request.file
                                             : std::string(kDefaultPreset);
  if (!request.cpu.empty() && !request.file.empty()) {
    line += " over " + request.file;
  }
  if (!loaded.description.empty()) line += ": " + loaded.description;
  for (size_t i = 0; i < request.sets.size(); ++i) {
    line += (i == 0 ? "; with " : ", ") + request.sets[i];
  }
  if (ChangesTopology(request.sets)) {
    line += ", so " + TopologyText(loaded.config.machine);
  }
  return line;
}

}  // namespace lookaside
