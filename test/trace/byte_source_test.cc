// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/byte_source.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lookaside/base/digest.h"
#include "lookaside/base/rng.h"
#include "lookaside/base/status.h"
#include "lookaside/test/trace/compress.h"

namespace lookaside {
namespace {

struct Outcome {
  std::string text;
  std::string error;  // empty if all was read
};

Outcome ReadAll(ByteSource& source, size_t piece = 1000) {
  Outcome outcome;
  std::vector<char> buffer(piece);
  while (const size_t n = source.Read(buffer)) {
    outcome.text.append(buffer.data(), n);
  }
  outcome.error = Message(source.status());
  return outcome;
}

Outcome ReadBytes(std::string_view bytes, size_t piece = 1000) {
  auto source = ByteSource::FromMemory("mem", bytes);
  if (!source.ok()) return {"", Message(source.status())};
  return ReadAll(**source, piece);
}

// Text that does not compress too well, larger than the buffers within.
std::string SomeText(size_t lines) {
  Rng rng(1);
  std::string text;
  for (size_t i = 0; i < lines; ++i) {
    text += " L " + std::to_string(rng.Next()) + "\n";
  }
  return text;
}

std::string WriteFile(const std::string& name, std::string_view bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(ByteSource, ReadsEveryCompressionInPiecesOfAnySize) {
  const std::string text = SomeText(100000);
  for (const Compression compression : {Compression::kNone, Compression::kGzip,
                                        Compression::kXz, Compression::kZstd}) {
    const std::string bytes = Compress(text, compression);
    for (const size_t piece : {size_t{7}, size_t{4096}, size_t{10000000}}) {
      auto source = ByteSource::FromMemory("mem", bytes);
      ASSERT_TRUE(source.ok());
      EXPECT_EQ((*source)->compression(), compression);
      const Outcome outcome = ReadAll(**source, piece);
      EXPECT_EQ(outcome.error, "");
      EXPECT_TRUE(outcome.text == text) << Name(compression) << piece;
      EXPECT_EQ((*source)->stored_size(), bytes.size());
      Digest digest;
      digest.AddBytes(bytes.data(), bytes.size());
      EXPECT_EQ((*source)->Xxh3(), digest.Finish().ToString());
    }
  }
}

TEST(ByteSource, ReadsMembersOneAfterAnother) {
  for (const Compression compression : kCompressed) {
    const std::string bytes = Compress("first\n", compression) +
                              Compress("", compression) +
                              Compress("second\n", compression);
    const Outcome outcome = ReadBytes(bytes);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.text, "first\nsecond\n") << Name(compression);
  }
}

TEST(ByteSource, NameOfTheFileDecidesNothing) {
  const std::string path =
      WriteFile("plain.gz", Compress("text\n", Compression::kZstd));
  auto source = ByteSource::Open(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->name(), path);
  EXPECT_EQ((*source)->compression(), Compression::kZstd);
  EXPECT_EQ(ReadAll(**source).text, "text\n");
}

TEST(ByteSource, ZstdSkippableFramesAreSkipped) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string frame = Compress("text\n", Compression::kZstd);
  EXPECT_EQ(ReadBytes(skippable + frame + skippable).text, "text\n");
}

TEST(ByteSource, XzPaddingIsAMultipleOfFour) {
  const std::string xz = Compress("text\n", Compression::kXz);
  const Outcome padded = ReadBytes(xz + std::string(8, '\0') + xz);
  EXPECT_EQ(padded.error, "");
  EXPECT_EQ(padded.text, "text\ntext\n");
  for (const std::string& bytes :
       {xz + std::string(3, '\0'), xz + std::string(5, '\0') + xz}) {
    EXPECT_NE(ReadBytes(bytes).error.find("padding is not a multiple of 4"),
              std::string::npos);
  }
}

TEST(ByteSource, TruncatedStreamNamesTheOffset) {
  for (const Compression compression : kCompressed) {
    std::string bytes = Compress("some text\n", compression);
    bytes.pop_back();
    const Outcome outcome = ReadBytes(bytes);
    EXPECT_EQ(outcome.error, "mem: byte " + std::to_string(bytes.size()) +
                                 ": the " + std::string(Name(compression)) +
                                 " data ends too early: the file is truncated");
  }
}

TEST(ByteSource, BytesAfterTheEndAreAnError) {
  for (const Compression compression : kCompressed) {
    const std::string bytes = Compress("some text\n", compression);
    for (const std::string& tail : {std::string("x"), std::string("garbage")}) {
      const Outcome outcome = ReadBytes(bytes + tail);
      EXPECT_EQ(outcome.text, "some text\n");
      EXPECT_EQ(outcome.error, "mem: byte " + std::to_string(bytes.size()) +
                                   ": '" + tail.substr(0, 6) +
                                   "' follows the end of the " +
                                   std::string(Name(compression)) + " data");
    }
  }
}

TEST(ByteSource, CorruptDataNamesTheFormatAndAnOffset) {
  for (const Compression compression : kCompressed) {
    std::string bytes = Compress(SomeText(1000), compression);
    bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
    const Outcome outcome = ReadBytes(bytes);
    EXPECT_TRUE(outcome.error.starts_with("mem: byte "));
    EXPECT_NE(outcome.error.find(": corrupt " + std::string(Name(compression)) +
                                 " data: "),
              std::string::npos)
        << outcome.error;
  }
}

TEST(ByteSource, ErrorStays) {
  auto source = ByteSource::FromMemory("mem", "\x1f\x8b nonsense");
  ASSERT_TRUE(source.ok());
  const Outcome first = ReadAll(**source);
  EXPECT_NE(first.error, "");
  EXPECT_EQ(ReadAll(**source).error, first.error);
}

TEST(ByteSource, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(Message(ByteSource::Open("/no/such/file").status()),
            "/no/such/file: cannot be opened: No such file or directory");
  EXPECT_EQ(Message(ByteSource::Open("/").status()),
            "/: is a directory, not a trace");
  const std::string empty = WriteFile("empty", "");
  EXPECT_EQ(Message(ByteSource::Open(empty).status()), empty + ": is empty");
  EXPECT_EQ(ReadBytes("").error, "mem: is empty");
}

}  // namespace
}  // namespace lookaside
