// SPDX-License-Identifier: Apache-2.0
//
// CLI11 splits the words; what may stand in them is checked here, so that
// every error has our wording. What it throws ends here.
#include "lookaside/cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/cli/command_table.h"
#include "lookaside/config/nearest.h"

namespace lookaside {
namespace {

// The commands that were named, the program itself first.
std::vector<CLI::App*> Chain(CLI::App& app) {
  std::vector<CLI::App*> chain = {&app};
  while (!chain.back()->get_subcommands().empty()) {
    chain.push_back(chain.back()->get_subcommands().front());
  }
  return chain;
}

std::string CommandName(const std::vector<CLI::App*>& chain) {
  std::string name = "lookaside";
  for (size_t i = 1; i < chain.size(); ++i) {
    name += " " + chain[i]->get_name();
  }
  return name;
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      names.push_back("-" + name);
    }
  }
  return names;
}

absl::Status UnknownOption(const std::string& word, const CLI::App& app,
                           const std::string& command) {
  const std::string option = word.substr(0, word.find('='));
  // One letter is like any other.
  const std::string hint = option.size() > 2
                               ? fmt::format("; did you mean '{}'?",
                                             Nearest(option, OptionNames(app)))
                               : ";";
  return InvalidArgument("unknown option '{}'{} '{} --help' lists all", option,
                         hint, command);
}

// The first word that has no meaning, if there is one.
absl::Status CheckLeftOver(const std::vector<CLI::App*>& chain) {
  const std::string command = CommandName(chain);
  for (const CLI::App* app : chain) {
    const std::vector<std::string> left = app->remaining();
    if (left.empty()) continue;
    if (left[0].size() > 1 && left[0][0] == '-') {
      return UnknownOption(left[0], *app, command);
    }
    const std::vector<std::string> names = SubcommandNames(*app);
    if (!names.empty()) {
      return InvalidArgument(
          "unknown command '{}'; did you mean '{}'? '{} --help' lists all",
          left[0], Nearest(left[0], names), command);
    }
    return InvalidArgument("unexpected argument '{}'; see '{} --help'", left[0],
                           command);
  }
  return absl::OkStatus();
}

// CLI11 takes any word that follows an option for its value.
absl::Status CheckValues(const std::vector<CLI::App*>& chain) {
  for (const CLI::App* app : chain) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& value : option->results()) {
        if (option->get_positional()) {
          if (!value.empty()) continue;
          return InvalidArgument("no {} given", option->get_name());
        }
        if (value.empty() || value.starts_with("--")) {
          return InvalidArgument("{} needs a value: {} {}", option->get_name(),
                                 option->get_name(), option->get_type_name());
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRepeated(const std::vector<CLI::App*>& chain) {
  for (const CLI::App* app : chain) {
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_multi_option_policy() ==
              CLI::MultiOptionPolicy::TakeLast &&
          option->count() > 1) {
        return InvalidArgument("{} is given more than once",
                               option->get_name());
      }
    }
  }
  return absl::OkStatus();
}

constexpr uint64_t kMostJobs = 1024;

struct Bounds {
  uint64_t low = 0;
  uint64_t high = ~uint64_t{0};
};

absl::Status ParseNumber(std::string_view option, const std::string& text,
                         uint64_t& number, const Bounds& bounds = {}) {
  if (text.empty()) return absl::OkStatus();
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < bounds.low ||
      value > bounds.high) {
    return InvalidArgument("{} {}: expected an integer from {} to {}", option,
                           text, bounds.low, bounds.high);
  }
  number = value;
  return absl::OkStatus();
}

// The one of the names that `text` is; nothing where it is empty.
template <typename T>
absl::Status ParseName(
    std::string_view option, const std::string& text,
    std::initializer_list<std::pair<std::string_view, T>> names, T& value) {
  if (text.empty()) return absl::OkStatus();
  std::string allowed;
  for (const auto& [name, named] : names) {
    if (text == name) {
      value = named;
      return absl::OkStatus();
    }
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", name);
  }
  return InvalidArgument("{} {}: expected one of {}", option, text, allowed);
}

absl::Status ParseReading(const Words& words, TraceOptions& reading) {
  using Format = std::optional<TraceFormat>;
  LOOKASIDE_RETURN_IF_ERROR(
      ParseName<Format>("--format", words.format,
                        {{"lackey", TraceFormat::kLackey},
                         {"drmemtrace", TraceFormat::kDrmemtrace}},
                        reading.format));
  LOOKASIDE_RETURN_IF_ERROR(
      ParseName<ThreadOrder>("--thread-order", words.thread_order,
                             {{"timestamps", ThreadOrder::kTimestamps},
                              {"serial_schedule", ThreadOrder::kSerialSchedule},
                              {"cpu_schedule", ThreadOrder::kCpuSchedule}},
                             reading.order));
  return ParseNumber("--max-expansion", words.max_expansion,
                     reading.max_expansion, {.low = 1});
}

absl::Status MissingCommand(const std::vector<CLI::App*>& chain) {
  std::string names;
  for (const std::string& name : SubcommandNames(*chain.back())) {
    names += (names.empty() ? "" : ", ") + name;
  }
  const std::string command = CommandName(chain);
  return InvalidArgument(
      "no command given; the commands are {}; see '{} --help'", names, command);
}

absl::StatusOr<Command> CommandOf(const std::vector<CLI::App*>& chain) {
  const std::string name = CommandName(chain);
  for (const auto& [command, spelled] :
       {std::pair(Command::kVersion, "lookaside version"),
        std::pair(Command::kDemo, "lookaside demo"),
        std::pair(Command::kReplay, "lookaside replay"),
        std::pair(Command::kSweep, "lookaside sweep"),
        std::pair(Command::kReproduce, "lookaside reproduce"),
        std::pair(Command::kTraceInfo, "lookaside trace info"),
        std::pair(Command::kTraceHead, "lookaside trace head"),
        std::pair(Command::kTraceConvert, "lookaside trace convert"),
        std::pair(Command::kConfigList, "lookaside config list"),
        std::pair(Command::kConfigShow, "lookaside config show"),
        std::pair(Command::kConfigCheck, "lookaside config check")}) {
    if (name == spelled) return command;
  }
  return MissingCommand(chain);
}

// What concerns several words.
absl::Status CheckTogether(const Words& words) {
  const Arguments& arguments = words.arguments;
  if (!words.preset.empty() && !arguments.config.cpu.empty()) {
    return InvalidArgument("the preset is given twice: '{}' and --cpu '{}'",
                           words.preset, arguments.config.cpu);
  }
  const auto from_stdin =
      std::count(arguments.traces.begin(), arguments.traces.end(), "-") +
      (arguments.config.file == "-" ? 1 : 0);
  if (from_stdin > 1) {
    return InvalidArgument("standard input ('-') can be read only once");
  }
  if (!arguments.json.empty() && arguments.json == arguments.csv) {
    return InvalidArgument("--json and --csv both name '{}'", arguments.json);
  }
  return absl::OkStatus();
}

// "--json: 1 required FILE missing" in our words.
absl::Status Translate(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return InvalidArgument("no {} given",
                           text.substr(0, text.find(" is required")));
  }
  constexpr std::string_view kMiddle = ": 1 required ";
  constexpr std::string_view kEnd = " missing";
  const size_t middle = text.find(kMiddle);
  if (middle != std::string::npos && text.ends_with(kEnd)) {
    const size_t value = middle + kMiddle.size();
    return InvalidArgument(
        "{} needs a value: {} {}", text.substr(0, middle),
        text.substr(0, middle),
        text.substr(value, text.size() - kEnd.size() - value));
  }
  return InvalidArgument("{}", text);
}

absl::StatusOr<Arguments> Interpret(CLI::App& app, Words& words) {
  const std::vector<CLI::App*> chain = Chain(app);
  LOOKASIDE_RETURN_IF_ERROR(CheckValues(chain));
  LOOKASIDE_RETURN_IF_ERROR(CheckLeftOver(chain));
  LOOKASIDE_RETURN_IF_ERROR(CheckRepeated(chain));
  Arguments& arguments = words.arguments;
  if (words.version) {
    arguments.command = Command::kVersion;
    return arguments;
  }
  LOOKASIDE_ASSIGN_OR_RETURN(arguments.command, CommandOf(chain));
  LOOKASIDE_RETURN_IF_ERROR(ParseNumber("--seed", words.seed, arguments.seed));
  LOOKASIDE_RETURN_IF_ERROR(ParseNumber("--jobs", words.jobs, arguments.jobs,
                                        {.low = 1, .high = kMostJobs}));
  LOOKASIDE_RETURN_IF_ERROR(ParseNumber("-n", words.lines, arguments.lines));
  uint64_t level = kLktDefaultLevel;
  LOOKASIDE_RETURN_IF_ERROR(
      ParseNumber("--level", words.level, level,
                  {.low = kLktLeastLevel, .high = kLktMostLevel}));
  arguments.level = static_cast<int>(level);
  LOOKASIDE_RETURN_IF_ERROR(ParseReading(words, arguments.reading));
  if (!words.trace.empty()) arguments.traces = {words.trace};
  LOOKASIDE_RETURN_IF_ERROR(CheckTogether(words));
  if (!words.preset.empty()) arguments.config.cpu = words.preset;
  return arguments;
}

}  // namespace

absl::StatusOr<Arguments> ParseArguments(std::vector<std::string> words) {
  if (!words.empty() && words.back() == "--json") words.push_back("-");
  CLI::App app("", "lookaside");
  Words target;
  BuildCommands(app, target);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    target.arguments.help = app.help();
    return target.arguments;
  } catch (const CLI::ParseError& error) {
    // A word without meaning is the likelier reason.
    LOOKASIDE_RETURN_IF_ERROR(CheckValues(Chain(app)));
    LOOKASIDE_RETURN_IF_ERROR(CheckLeftOver(Chain(app)));
    return Translate(error);
  }
  return Interpret(app, target);
}

std::vector<std::string> InputsOf(const Arguments& arguments) {
  std::vector<std::string> inputs = arguments.traces;
  if (!arguments.config.file.empty()) inputs.push_back(arguments.config.file);
  return inputs;
}

}  // namespace lookaside
