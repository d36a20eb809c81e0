// SPDX-License-Identifier: Apache-2.0
//
// Whole results of the bundled recording and a whole report, as they were when
// somebody last looked at them and found them right.
#include "lookaside/test/cli/golden.h"

#include <string>

#include "gtest/gtest.h"
#include "lookaside/test/cli/command_runner.h"

namespace lookaside {
namespace {

constexpr char kRecording[] = "testdata/zstd.lackey.xz";
constexpr char kDirectory[] = "test/cli/golden/";

class GoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, ResultOfTheBundledRecording) {
  const Finished done =
      RunLookaside({"replay", kRecording, "--cpu", GetParam(), "--json", "-"});
  ASSERT_EQ(done.status, 0) << done.err;
  ExpectGolden(kDirectory + GetParam() + ".json", WithoutHost(done.out));
}

INSTANTIATE_TEST_SUITE_P(Presets, GoldenTest,
                         ::testing::Values("skylake-sp", "textbook"),
                         [](const auto& test) {
                           return test.param == "textbook" ? "Textbook"
                                                           : "SkylakeSp";
                         });

TEST(GoldenTest, ReportOfASmallTrace) {
  const Finished done =
      RunLookaside({"replay", std::string(kDirectory) + "small.lackey", "--cpu",
                    "skylake-sp", "--set", "replay.cpu=50"});
  ASSERT_EQ(done.status, 0) << done.err;
  ExpectGolden(std::string(kDirectory) + "small.txt", done.out);
}

}  // namespace
}  // namespace lookaside
