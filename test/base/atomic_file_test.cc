// SPDX-License-Identifier: Apache-2.0
#include "lookaside/base/atomic_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() : directory_(testing::TempDir() + "/atomic_file") {
    fs::remove_all(directory_);
    fs::create_directory(directory_);
  }
  ~AtomicFileTest() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) { return directory_ + "/" + name; }
  std::string Contents(const std::string& name) {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t Entries() {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         fs::directory_iterator(directory_)) {
      ++count;
    }
    return count;
  }

  std::string directory_;
};

TEST_F(AtomicFileTest, AppearsWhole) {
  auto file = *AtomicFile::Create(Path("a"));
  ASSERT_TRUE(file->Append("one ").ok());
  ASSERT_TRUE(file->Append("two").ok());
  EXPECT_FALSE(fs::exists(Path("a")));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Contents("a"), "one two");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(AtomicFileTest, WithoutCommitTheOldOneStays) {
  std::ofstream(Path("a")) << "old";
  {
    auto file = *AtomicFile::Create(Path("a"));
    ASSERT_TRUE(file->Append("new").ok());
  }
  EXPECT_EQ(Contents("a"), "old");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(AtomicFileTest, KeepsTheModeAndTheLinkOfWhatItReplaces) {
  std::ofstream(Path("a")) << "old";
  fs::permissions(Path("a"), fs::perms(0640));
  fs::create_symlink("a", Path("link"));
  auto file = *AtomicFile::Create(Path("link"));
  ASSERT_TRUE(file->Append("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Contents("a"), "new");
  EXPECT_EQ(fs::status(Path("a")).permissions(), fs::perms(0640));
}

TEST_F(AtomicFileTest, WhatCannotBeWrittenIsNamed) {
  const auto file = AtomicFile::Create(Path("no/a"));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(Message(file.status()),
            Path("no/a") + ": cannot be written: No such file or directory");
  EXPECT_FALSE(CheckWritable(Path("no/a")).ok());
  EXPECT_FALSE(CheckWritable(directory_).ok());
  EXPECT_TRUE(CheckWritable(Path("a")).ok());
}

TEST_F(AtomicFileTest, ADeviceIsWrittenAsItIs) {
  auto file = *AtomicFile::Create("/dev/null");
  ASSERT_TRUE(file->Append("x").ok());
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
}

}  // namespace
}  // namespace lookaside
