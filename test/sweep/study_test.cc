// SPDX-License-Identifier: Apache-2.0
#include "lookaside/sweep/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "lookaside/config/config_loader.h"
#include "lookaside/test/sweep/random_program.h"
#include "lookaside/trace/vector_reader.h"

namespace lookaside {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr char kPolicies[] =
    "kernel.flush.policy=always_full,shift,ceiling,never_full";

Study StudyOf(const std::string& preset, const std::vector<std::string>& sets,
              const std::vector<std::string>& texts,
              const RecordedProgram& program) {
  const LoadedConfig loaded =
      LoadConfig({.file = "", .cpu = preset, .sets = sets}).value();
  std::vector<Vary> varies;
  for (const std::string& text : texts) {
    varies.push_back(ParseVary(text).value());
  }
  VectorReader reader("mine", program.events, program.calls);
  return RunStudy(loaded, varies,
                  [&](std::span<const SweepPoint> points) {
                    return RunSweep(points, reader, {});
                  })
      .value();
}

TEST(Study, NoPolicyIsBelowAProvenBound) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const RecordedProgram program = RandomProgram(seed).Run(1);
    for (const std::string version : {"linux_3.17", "linux_6.15"}) {
      const Study study = StudyOf(
          "textbook",
          {"tlb.stlb.entries=0", "cost.refill_ns=20",
           "machine.cores_per_socket=4", "kernel.version=" + version},
          {kPolicies, "kernel.flush.ceiling=2,32", "cost.invlpg_ns=10,200"},
          program);
      ASSERT_THAT(study.bounds, SizeIs(study.points.size()));
      for (size_t i = 0; i < study.points.size(); ++i) {
        EXPECT_TRUE(study.bounds[i].proven);
        EXPECT_LE(study.bounds[i].cycles,
                  study.sweep.results[i].totals.cycles.Total())
            << i;
        EXPECT_GT(study.bounds[i].cycles, Cycles(0));
      }
    }
  }
}

// Two levels: what a first level keeps, the second may have lost meanwhile.
TEST(Study, TwoLevelsSiblingsAndWalksThatDifferAreHindsight) {
  const RecordedProgram program = RandomProgram(1).Run(1);
  const auto proven = [&](const std::vector<std::string>& sets) {
    return StudyOf("textbook", sets, {kPolicies}, program).bounds[0].proven;
  };
  EXPECT_TRUE(proven({"tlb.stlb.entries=0", "cost.refill_ns=20"}));
  EXPECT_FALSE(proven({"cost.refill_ns=20"}));
  EXPECT_FALSE(proven({"tlb.stlb.entries=0"}));
  EXPECT_FALSE(proven({"tlb.stlb.entries=0", "cost.refill_ns=20",
                       "tlb.dtlb_4k.replacement=fifo"}));
  EXPECT_FALSE(proven({"tlb.stlb.entries=0", "cost.refill_ns=20",
                       "machine.threads_per_core=2", "replay.placement=pack"}));
}

TEST(Study, TheEndsOfWhatIsUnsureAreThePointsThere) {
  const RecordedProgram program = RandomProgram(2).Run(1);
  const Study study =
      StudyOf("skylake-sp", {}, {"kernel.flush.ceiling=0,4,33"}, program);
  ASSERT_THAT(study.ends, SizeIs(6));
  const Study overlapped = StudyOf("skylake-sp", {"walk.overlap=1"},
                                   {"kernel.flush.ceiling=0,4,33"}, program);
  EXPECT_EQ(study.ends[1].key, "walk.overlap");
  EXPECT_EQ(study.ends[1].value, "1");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(study.ends[1].results[i].totals,
              overlapped.sweep.results[i].totals);
  }
  EXPECT_NE(study.ends[0].results[0].totals.cycles,
            study.ends[1].results[0].totals.cycles);
}

TEST(Study, WhereTheKernelIsNotVariedThereIsNeitherBoundNorEnd) {
  const RecordedProgram program = RandomProgram(2).Run(1);
  const Study study =
      StudyOf("textbook", {}, {"tlb.stlb.entries=64,128"}, program);
  EXPECT_THAT(study.bounds, IsEmpty());
  EXPECT_THAT(study.ends, IsEmpty());
  EXPECT_THAT(study.sweep.results, SizeIs(2));
}

TEST(Study, AnUnsureKeyThatIsVariedHasNoEnds) {
  const RecordedProgram program = RandomProgram(2).Run(1);
  const Study study =
      StudyOf("textbook", {},
              {"kernel.flush.ceiling=0,4", "walk.overlap=0,0.5"}, program);
  ASSERT_THAT(study.ends, SizeIs(4));
  EXPECT_EQ(study.ends[0].key, "walk.data_pressure");
}

}  // namespace
}  // namespace lookaside
