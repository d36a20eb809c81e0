// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "lookaside/base/printable.h"
#include "lookaside/base/status.h"
#include "lookaside/cli/commands.h"
#include "lookaside/cli/result_file.h"
#include "lookaside/cli/standard_streams.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/config/config_show.h"
#include "lookaside/report/result_json.h"

namespace lookaside {

absl::Status RunConfigList() {
  std::string text;
  for (const PresetInfo& preset : ListPresets()) {
    text += fmt::format("{:<16}  {}{}\n", preset.name, preset.description,
                        preset.name == kDefaultPreset ? " (default)" : "");
  }
  return WriteStandardOutput(text);
}

absl::Status RunConfigShow(const Arguments& arguments) {
  LOOKASIDE_RETURN_IF_ERROR(
      CheckResultFile("--json", arguments.json, InputsOf(arguments)));
  LOOKASIDE_ASSIGN_OR_RETURN(const LoadedConfig loaded,
                             LoadConfig(arguments.config));
  return arguments.json.empty()
             ? WriteStandardOutput(ShowConfig(loaded))
             : WriteResultFile(arguments.json, ConfigJson(loaded.config));
}

absl::Status RunConfigCheck(const Arguments& arguments) {
  LOOKASIDE_ASSIGN_OR_RETURN(const LoadedConfig loaded,
                             LoadConfig(arguments.config));
  const std::string& file = arguments.config.file;
  return WriteStandardOutput(fmt::format(
      "{}: good{}{}\n", file == "-" ? "standard input" : Printable(file),
      loaded.description.empty() ? "" : ": ", loaded.description));
}

}  // namespace lookaside
