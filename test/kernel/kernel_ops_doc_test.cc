// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "lookaside/kernel/program_doc.h"
#include "lookaside/kernel/programs.h"

namespace lookaside {
namespace {

TEST(KernelOpsDoc, IsUpToDate) {
  std::ifstream file("docs/kernel_ops.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == KernelOpsDoc())
      << "run: bazel run //test/kernel:kernel_ops_doc_test -- --update";
}

TEST(KernelPrograms, AreThereForEveryVersion) {
  for (size_t i = 0; i < std::size(kKernelVersionNames); ++i) {
    const auto version = static_cast<KernelVersion>(i);
    const KernelPrograms programs =
        ProgramsOf(KernelRules::From({.version = version}, {}, {}));
    for (const KernelSteps* program : programs) {
      ASSERT_NE(program, nullptr) << Name(version);
      ASSERT_FALSE(program->steps.empty()) << program->name;
    }
  }
}

TEST(KernelPrograms, EveryStepSaysWhatItDoes) {
  const KernelPrograms programs = ProgramsOf(KernelRules::From({}, {}, {}));
  for (const KernelSteps* program : programs) {
    for (const KernelStep& step : program->steps) {
      EXPECT_FALSE(step.name.empty()) << program->name;
      EXPECT_FALSE(step.text.empty()) << program->name << ": " << step.name;
      EXPECT_EQ(step.cell.empty(), step.access == StepAccess::kNone)
          << program->name << ": " << step.name;
      EXPECT_NE(step.run, nullptr) << program->name << ": " << step.name;
    }
  }
}

int Update() {
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string path =
      std::string(workspace ? workspace : ".") + "/docs/kernel_ops.md";
  std::ofstream file(path);
  file << KernelOpsDoc();
  file.close();
  std::cout << (file ? "wrote " : "cannot write ") << path << "\n";
  return file ? 0 : 1;
}

}  // namespace
}  // namespace lookaside

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--update") {
    return lookaside::Update();
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
