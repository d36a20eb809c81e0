// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/command_table.h"

namespace lookaside {
namespace {

CLI::App* AddCommand(CLI::App* parent, const std::string& name,
                     const std::string& description,
                     const std::string& example) {
  CLI::App* const command = parent->add_subcommand(name, description);
  command->footer("Example:\n" + example);
  // Left over words are ours to complain about.
  command->allow_extras();
  command->require_subcommand(0, 1);
  return command;
}

// One value; whether it is given twice is checked afterwards.
CLI::Option* AddValue(CLI::App* command, const std::string& name,
                      std::string& target, const std::string& value_name,
                      const std::string& description) {
  return command->add_option(name, target, description)
      ->option_text(value_name)
      ->type_name(value_name)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void AddJson(CLI::App* command, Words& words, const std::string& what) {
  AddValue(command, "--json", words.arguments.json, "FILE",
           "Write " + what +
               " as JSON; - is standard output, and so is\n"
               "--json as the last word");
}

void AddCsv(CLI::App* command, Words& words) {
  AddValue(command, "--csv", words.arguments.csv, "FILE",
           "Write the counters as CSV; - is standard output");
}

CLI::Option* AddList(CLI::App* command, const std::string& name,
                     std::vector<std::string>& target,
                     const std::string& value_name,
                     const std::string& description) {
  return command->add_option(name, target, description)
      ->option_text(value_name)
      ->type_name(value_name)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddConfig(CLI::App* command, Words& words) {
  ConfigRequest& config = words.arguments.config;
  AddValue(command, "--cpu", config.cpu, "PRESET",
           "Simulate this processor (lookaside config list)");
  AddValue(command, "--config", config.file, "FILE",
           "Read the configuration from a TOML file; - is standard input");
  AddList(command, "--set", config.sets, "KEY=VALUE",
          "Change one key of the configuration; may be repeated");
}

void AddReading(CLI::App* command, Words& words) {
  AddValue(command, "--format", words.format, "FORMAT",
           "lackey or drmemtrace; by content unless given");
  AddValue(command, "--thread-order", words.thread_order, "ORDER",
           "How files of a drmemtrace directory follow one another:\n"
           "timestamps (unless given), serial_schedule or cpu_schedule");
  AddValue(command, "--max-expansion", words.max_expansion, "N",
           "Refuse what unpacks to more than N times its size; 1000 unless\n"
           "given");
}

void AddTraces(CLI::App* command, Words& words) {
  command
      ->add_option("TRACE", words.arguments.traces,
                   "A recording, or a generator such as gen:mprotect,t=4;\n"
                   "several are several processes; - is standard input")
      ->option_text(" ")
      ->required();
  AddReading(command, words);
}

void AddTrace(CLI::App* command, Words& words) {
  command->add_option("TRACE", words.trace, "A recording; - is standard input")
      ->option_text(" ")
      ->required();
  AddReading(command, words);
}

void AddReplay(CLI::App& app, Words& words) {
  CLI::App* const demo = AddCommand(
      &app, "demo",
      "Replay the recording of a real program that is part of this command",
      "  lookaside demo");
  AddJson(demo, words, "the result");
  CLI::App* const replay = AddCommand(
      &app, "replay", "Play a recorded program on a simulated machine",
      "  valgrind --tool=lackey --trace-mem=yes --trace-syscalls=yes "
      "--trace-sched=yes --log-file=ls.lackey ls\n"
      "  lookaside replay ls.lackey --cpu zen3 --set "
      "tlb.stlb_data.entries=1024");
  AddTraces(replay, words);
  AddConfig(replay, words);
  AddValue(replay, "--seed", words.seed, "S",
           "Of random replacement; 0 unless given");
  AddJson(replay, words, "the result");
  AddCsv(replay, words);
}

void AddSweep(CLI::App& app, Words& words) {
  CLI::App* const sweep = AddCommand(
      &app, "sweep",
      "Play a recorded program on many configurations, in one pass",
      "  lookaside sweep ls.lackey --vary tlb.stlb.entries=384..1536:*2 "
      "--vary walk.overlap=0,0.5");
  AddTraces(sweep, words);
  AddList(sweep, "--vary", words.arguments.varies, "KEY=LIST",
          "Give a key these values: a,b,c or lo..hi or lo..hi:step or\n"
          "lo..hi:*factor; repeated, every combination")
      ->required();
  AddConfig(sweep, words);
  AddValue(sweep, "--seed", words.seed, "S",
           "Of random replacement; 0 unless given");
  AddValue(sweep, "--jobs", words.jobs, "N",
           "Host threads; as many as the host has unless given");
  AddJson(sweep, words, "every result");
  AddCsv(sweep, words);
}

void AddReproduce(CLI::App& app, Words& words) {
  CLI::App* const reproduce = AddCommand(
      &app, "reproduce",
      "Simulate published experiments, and judge what comes out of them",
      "  lookaside reproduce C");
  reproduce
      ->add_option("CARD", words.arguments.cards,
                   "Letters of experiments; all unless given")
      ->option_text(" ");
  reproduce->add_flag("--strict", words.arguments.strict,
                      "Exit with 1 on any miss, not only on what is worse\n"
                      "than recorded");
  AddValue(reproduce, "--seed", words.seed, "S",
           "Of the draws and the experiments; 0 unless given");
  AddValue(reproduce, "--jobs", words.jobs, "N",
           "Host threads; as many as the host has unless given");
  AddJson(reproduce, words, "the verdicts");
}

void AddTraceCommands(CLI::App& app, Words& words) {
  CLI::App* const trace = AddCommand(&app, "trace", "Look into recordings",
                                     "  lookaside trace info ls.lackey");
  CLI::App* const info = AddCommand(
      trace, "info", "Read recordings to their end and say what is in them",
      "  lookaside trace info ls.lackey sort.lackey.zst");
  info->add_option("TRACE", words.arguments.traces,
                   "Recordings; - is standard input")
      ->option_text(" ")
      ->required();
  AddReading(info, words);
  AddJson(info, words, "what is in them");
  CLI::App* const head =
      AddCommand(trace, "head", "Print the first events of a recording",
                 "  lookaside trace head -n 20 ls.lackey");
  AddTrace(head, words);
  AddValue(head, "-n,--lines", words.lines, "N", "How many; 10 unless given");
  CLI::App* const convert = AddCommand(
      trace, "convert", "Write a trace again in the native format (.lkt)",
      "  lookaside trace convert sort.lackey.zst sort.lkt");
  convert
      ->add_option("FROM", words.trace,
                   "A recording or a generator; - is standard input")
      ->option_text(" ")
      ->required();
  AddReading(convert, words);
  convert
      ->add_option("TO", words.arguments.output,
                   "The file to be written; its name ends in .lkt")
      ->option_text(" ")
      ->required();
  AddValue(convert, "--level", words.level, "N",
           "Of compression by zstd, 1 to 22; 9 unless given");
}

void AddConfigCommands(CLI::App& app, Words& words) {
  CLI::App* const config =
      AddCommand(&app, "config", "Look at configurations and presets",
                 "  lookaside config show skylake-sp");
  AddCommand(config, "list", "List the presets", "  lookaside config list");
  CLI::App* const show = AddCommand(
      config, "show",
      "Print every key of a configuration with its source, as a TOML file",
      "  lookaside config show skylake-sp --set paging.thp=always > my.toml");
  show->add_option("PRESET", words.preset, "The same as --cpu PRESET")
      ->option_text(" ");
  AddConfig(show, words);
  AddJson(show, words, "it");
  CLI::App* const check = AddCommand(
      config, "check", "Say whether a configuration file can be used",
      "  lookaside config check my.toml");
  check
      ->add_option("FILE", words.arguments.config.file,
                   "A TOML file; - is standard input")
      ->option_text(" ")
      ->required();
}

}  // namespace

void BuildCommands(CLI::App& app, Words& words) {
  app.description(
      "Lookaside simulates address translation: what TLBs, page walks and page "
      "faults\ncost a recorded program on a modelled machine.");
  app.footer(
      "Example:\n  lookaside demo\n\n"
      "'lookaside COMMAND --help' tells more of a command.");
  app.allow_extras();
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(22);
  app.add_flag("--version", words.version, "The same as the command version");
  AddReplay(app, words);
  AddSweep(app, words);
  AddReproduce(app, words);
  AddTraceCommands(app, words);
  AddConfigCommands(app, words);
  AddCommand(&app, "version", "Print the version", "  lookaside version");
}

}  // namespace lookaside
