// SPDX-License-Identifier: Apache-2.0
#include "lookaside/test/cli/golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace lookaside {
namespace {

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Updating() {
  return Slurp("/proc/self/cmdline").find("--update_goldens") !=
         std::string::npos;
}

}  // namespace

void ExpectGolden(const std::string& path, const std::string& actual) {
  if (Updating()) {
    const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
    ASSERT_NE(workspace, nullptr) << "--update_goldens needs bazel run";
    std::ofstream file(std::string(workspace) + "/" + path, std::ios::binary);
    file << actual;
    ASSERT_TRUE(file.flush().good()) << path;
    return;
  }
  EXPECT_EQ(Slurp(path), actual)
      << path << " differs; if that is meant, run this test with `bazel run` "
      << "and --update_goldens";
}

}  // namespace lookaside
