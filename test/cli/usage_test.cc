// SPDX-License-Identifier: Apache-2.0
//
// What the command says to what it cannot do: one line, and exit status 2.
#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lookaside/test/cli/command_runner.h"

namespace lookaside {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTrace[] = "I  04001000,4\n L 1ffeffe7e0,8\n";

struct Refusal {
  std::string name;
  std::vector<std::string> arguments;
  std::string err;  // after "lookaside: "
};

class RefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, IsOneLineAndStatus2) {
  const Finished done = RunLookaside(GetParam().arguments, {.input = kTrace});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "lookaside: " + GetParam().err + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Commands, RefusalTest,
    ::testing::ValuesIn(std::vector<Refusal>{
        {"NoCommand",
         {},
         "no command given; the commands are demo, replay, sweep, reproduce, "
         "trace, config, version; see 'lookaside --help'"},
        {"NoSubcommand",
         {"trace"},
         "no command given; the commands are info, head, convert; see "
         "'lookaside trace "
         "--help'"},
        {"UnknownCommand",
         {"repaly", "x"},
         "unknown command 'repaly'; did you mean 'replay'? 'lookaside --help' "
         "lists all"},
        {"UnknownSubcommand",
         {"trace", "inof", "x"},
         "unknown command 'inof'; did you mean 'info'? 'lookaside trace "
         "--help' lists all"},
        {"UnknownOption",
         {"replay", "-", "--jsno", "x"},
         "unknown option '--jsno'; did you mean '--json'? 'lookaside replay "
         "--help' lists all"},
        {"UnknownOptionWithValue",
         {"replay", "-", "--cup=zen3"},
         "unknown option '--cup'; did you mean '--cpu'? 'lookaside replay "
         "--help' lists all"},
        {"UnknownLetter",
         {"replay", "-", "-x"},
         "unknown option '-x'; 'lookaside replay --help' lists all"},
        // They blamed the trace, and named 0 as allowed.
        {"ValueOfVary",
         {"sweep", "-", "--vary", "tlb.stlb.entries=abc"},
         "--vary tlb.stlb.entries = abc: expected an integer from 0 to "
         "1048576"},
        {"NegativeJobs",
         {"sweep", "-", "--vary", "walk.overlap=0,1", "--jobs", "-1"},
         "--jobs -1: expected an integer from 1 to 1024"},
        {"NoJobs",
         {"sweep", "-", "--vary", "walk.overlap=0,1", "--jobs", "0"},
         "--jobs 0: expected an integer from 1 to 1024"},
        {"CardInSmallLetters",
         {"reproduce", "c"},
         "no card 'c'; did you mean 'C'? those that can be simulated are B, C"},
        {"PresetInCapitals",
         {"replay", "-", "--cpu", "ZEN3"},
         "--cpu ZEN3: unknown preset; did you mean 'zen3'? 'lookaside config "
         "list' lists all"},
        {"WaysOfNoCache",
         {"replay", "-", "--set", "psc.pde=0"},
         "--set psc.pde = 0: psc.pde_ways = 4: psc.pde = 0 leaves the cache "
         "out, so it has no ways: set psc.pde_ways = 0 too"},
        {"MemoryNodesThatDivideNoSocket",
         {"replay", "-", "--set", "machine.numa=7"},
         "--set machine.numa = 7: the cores of a socket "
         "(machine.cores_per_socket = 24) cannot be dealt to as many memory "
         "nodes in equal parts; 1, 2, 3, 4, 6, 8 can"},
        {"UnexpectedArgument",
         {"version", "now"},
         "unexpected argument 'now'; see 'lookaside version --help'"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Replay, RefusalTest,
    ::testing::ValuesIn(std::vector<Refusal>{
        {"NoTrace", {"replay"}, "no TRACE given"},
        {"StandardInputForTwoTraces",
         {"replay", "-", "-"},
         "standard input ('-') can be read only once"},
        {"UnknownGenerator",
         {"replay", "gen:munmap"},
         "gen:munmap: unknown generator 'munmap'; there is gen:mprotect (a "
         "file "
         "of that name is ./gen:munmap)"},
        {"GeneratorParameter",
         {"replay", "gen:mprotect,t=x"},
         "gen:mprotect,t=x: t=x: expected an integer from 0 to 4096"},
        {"UnknownGeneratorParameter",
         {"replay", "gen:mprotect,siz=1M"},
         "gen:mprotect,siz=1M: unknown parameter 'siz'; did you mean 'size'? "
         "mprotect has t, p, n, l, size, redraw and sparse"},
        {"GeneratorParameterTwice",
         {"replay", "gen:mprotect,t=1,t=2"},
         "gen:mprotect,t=1,t=2: t is given twice"},
        {"BadSeed",
         {"replay", "-", "--seed", "5x"},
         "--seed 5x: expected an integer from 0 to 18446744073709551615"},
        {"JsonTwice",
         {"replay", "-", "--json", "x", "--json", "y"},
         "--json is given more than once"},
        {"JsonWithoutFile",
         {"replay", "-", "--json", "--cpu", "zen3"},
         "--json needs a value: --json FILE"},
        {"CpuWithoutPreset",
         {"replay", "-", "--cpu"},
         "--cpu needs a value: --cpu PRESET"},
        {"EmptyCpu",
         {"replay", "-", "--cpu", ""},
         "--cpu needs a value: --cpu PRESET"},
        {"EmptyTrace", {"replay", ""}, "no TRACE given"},
        {"StandardInputTwice",
         {"replay", "-", "--config", "-"},
         "standard input ('-') can be read only once"},
        {"UnknownPreset",
         {"replay", "-", "--cpu", "skylak"},
         "--cpu skylak: unknown preset; did you mean 'skylake-sp'? 'lookaside "
         "config list' lists all"},
        {"UnknownKey",
         {"replay", "-", "--set", "tlb.stlb.entires=3"},
         "--set tlb.stlb.entires = 3: unknown key; did you mean "
         "'tlb.stlb.entries'?"},
        {"NoValue",
         {"replay", "-", "--set", "x"},
         "--set x: expected KEY=VALUE"},
        {"JsonInMissingDirectory",
         {"replay", "-", "--json", "/nonexistent/x"},
         "/nonexistent/x: cannot be written: No such file or directory"},
        {"JsonIsDirectory",
         {"replay", "-", "--json", "/"},
         "/: cannot be written: Is a directory"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Others, RefusalTest,
    ::testing::ValuesIn(std::vector<Refusal>{
        {"HeadOfTwo",
         {"trace", "head", "a", "b"},
         "unexpected argument 'b'; see 'lookaside trace head --help'"},
        {"HeadOfNothing", {"trace", "head"}, "no TRACE given"},
        {"BadLines",
         {"trace", "head", "-", "-n", "ten"},
         "-n ten: expected an integer from 0 to 18446744073709551615"},
        {"ConvertOfNothing", {"trace", "convert"}, "no FROM given"},
        {"ConvertToNothing", {"trace", "convert", "a"}, "no TO given"},
        {"ConvertToAnother",
         {"trace", "convert", "a", "b.csv"},
         "b.csv: a trace is written in the native format alone, to a file "
         "whose name ends in .lkt"},
        {"ConvertToItself",
         {"trace", "convert", "a.lkt", "a.lkt"},
         "a.lkt: is the trace to be read itself"},
        {"ConvertAtNoLevel",
         {"trace", "convert", "a", "b.lkt", "--level", "23"},
         "--level 23: expected an integer from 1 to 22"},
        {"InfoOfNothing", {"trace", "info"}, "no TRACE given"},
        {"CheckOfNothing", {"config", "check"}, "no FILE given"},
        {"CheckOfMissing",
         {"config", "check", "nofile.toml"},
         "nofile.toml: cannot be read: No such file or directory"},
        {"TwoPresets",
         {"config", "show", "zen3", "--cpu", "zen2"},
         "the preset is given twice: 'zen3' and --cpu 'zen2'"},
        {"ShowOfUnknown",
         {"config", "show", "zen33"},
         "--cpu zen33: unknown preset; did you mean 'zen3'? 'lookaside config "
         "list' lists all"},
    }),
    [](const auto& test) { return test.param.name; });

// The wording of these is the reader's.
TEST(RefusalTest, BadTraceNamesItself) {
  for (const auto& [path, input] :
       std::vector<std::pair<std::string, std::string>>{
           {"missing.lackey", ""}, {"/", ""}, {"-", "no lackey\n"}}) {
    const Finished done = RunLookaside({"replay", path}, {.input = input});
    EXPECT_EQ(done.status, 2) << path;
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, StartsWith("lookaside: "));
    EXPECT_THAT(done.err, HasSubstr(path + ": "));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1);
  }
}

TEST(RefusalTest, ControlCharactersOfANameStayOnOneLine) {
  const Finished done = RunLookaside({"config", "check", "a\nb\033[2J"});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1);
  EXPECT_EQ(done.err.find('\033'), std::string::npos);
}

TEST(HelpTest, IsOnStandardOutputWithAnExample) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{},
                                             {"demo"},
                                             {"replay"},
                                             {"trace"},
                                             {"trace", "info"},
                                             {"trace", "head"},
                                             {"config"},
                                             {"config", "list"},
                                             {"config", "show"},
                                             {"config", "check"},
                                             {"version"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const Finished done = RunLookaside(arguments);
    EXPECT_EQ(done.status, 0);
    EXPECT_EQ(done.err, "");
    EXPECT_THAT(done.out, HasSubstr("Usage: lookaside"));
    EXPECT_THAT(done.out, HasSubstr("Example:\n"));
  }
}

TEST(VersionTest, IsACommandAndAnOption) {
  EXPECT_EQ(RunLookaside({"version"}).out, "lookaside 0.1.0\n");
  EXPECT_EQ(RunLookaside({"--version"}).out, "lookaside 0.1.0\n");
}

}  // namespace
}  // namespace lookaside
