// SPDX-License-Identifier: Apache-2.0
//
// docs/configuration.md says what the table of keys says. To write it anew:
//
//   bazel run //test/config:config_doc_test -- --update
#include "lookaside/config/config_doc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "lookaside/config/config_loader.h"

namespace lookaside {
namespace {

std::string ReadDoc(const std::string& name) {
  std::ifstream file("docs/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ConfigurationDoc, IsUpToDate) {
  EXPECT_TRUE(ReadDoc("configuration.md") == ConfigurationDoc())
      << "run: bazel run //test/config:config_doc_test -- --update";
}

TEST(PresetsDoc, NamesEveryPreset) {
  const std::string text = ReadDoc("presets.md");
  for (const PresetInfo& preset : ListPresets()) {
    const std::string row = "| `" + preset.name + "` | " + preset.description;
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

int Update() {
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string path =
      std::string(workspace ? workspace : ".") + "/docs/configuration.md";
  std::ofstream file(path);
  file << ConfigurationDoc();
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
