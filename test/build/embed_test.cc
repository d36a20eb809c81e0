// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lookaside/embed/embedded_file.h"
#include "lookaside/test/build/embed-sample.h"

namespace lookaside {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

TEST(EmbedTest, GivesNamesInOrder) {
  EXPECT_THAT(SampleFiles(),
              ElementsAre(Field(&EmbeddedFile::name, "data/empty.txt"),
                          Field(&EmbeddedFile::name, "data/two.txt"),
                          Field(&EmbeddedFile::name, "generated.bin")));
}

TEST(EmbedTest, GivesContentsToTheByte) {
  const std::span<const EmbeddedFile> files = SampleFiles();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].contents, "");
  EXPECT_EQ(files[1].contents, "two\nlines\n");
  EXPECT_EQ(files[2].contents, std::string_view("a\0b", 3));
}

}  // namespace
}  // namespace lookaside
