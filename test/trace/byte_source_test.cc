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
  for (const Compression compression :
       {Compression::kNone, Compression::kGzip, Compression::kXz,
        Compression::kZstd, Compression::kLz4, Compression::kBzip2,
        Compression::kSnappy, Compression::kZip}) {
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

TEST(ByteSource, ReadsTheMembersOfAZipInTheOrderOfItsDirectory) {
  const std::string bytes =
      Zip({{"b", "first\n"}, {"folder/", ""}, {"a", "second\n"}});
  auto source = ByteSource::FromMemory("mem", bytes);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(ReadAll(**source).text, "first\nsecond\n");
  ASSERT_EQ((*source)->parts().size(), 2u);
  EXPECT_EQ((*source)->parts()[0].name, "b");
  EXPECT_EQ((*source)->parts()[0].bytes, 6u);
}

TEST(ByteSource, TruncatedZipIsAnError) {
  const std::string bytes = Zip({{"a", SomeText(100)}});
  for (size_t size = 4; size < bytes.size(); ++size) {
    EXPECT_NE(ReadBytes(std::string_view(bytes).substr(0, size)).error, "")
        << size;
  }
  EXPECT_EQ(ReadBytes(bytes.substr(0, 30)).error,
            "mem: is no whole zip archive: Not a zip archive; its directory is "
            "at its end, so the file may be truncated");
}

TEST(ByteSource, CorruptMemberOfAZipIsNamed) {
  std::string bytes = Zip({{"a", "text\n"}, {"b", SomeText(1000)}});
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  const Outcome outcome = ReadBytes(bytes);
  EXPECT_TRUE(outcome.error.starts_with("mem: b of the zip: byte "))
      << outcome.error;
}

TEST(ByteSource, SnappyChunksOfEveryType) {
  const std::string start("\xff\x06\0\0sNaPpY", 10);
  const std::string plain("\x03\x02\0\0ab", 6);
  const std::string compressed(
      "\x02\x04\0\0\x02\x04"
      "cd",
      8);
  const std::string padding("\xfe\x03\0\0\0\0\0", 7);
  const std::string skippable("\x80\x01\0\0x", 5);
  const Outcome outcome = ReadBytes(start + plain + padding + compressed +
                                    skippable + start + plain);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.text, "abcdab");
}

TEST(ByteSource, BadSnappyChunksAreErrors) {
  const std::string start("\xff\x06\0\0sNaPpY", 10);
  for (const auto& [chunk, what] :
       {std::pair(std::string("\x04\x01\0\0x", 5), "unknown type 0x04"),
        std::pair(std::string("\x00\x01\0\0x", 5), "a chunk of 1 bytes"),
        std::pair(std::string("\x01\xff\xff\xff", 4),
                  "a chunk of 16777215 bytes"),
        std::pair(std::string("\x01\x05\0\0abcdx", 9), "bad check sum"),
        std::pair(std::string("\x02\x02\0\0\x05x", 6), "bad data in a chunk"),
        std::pair(std::string("\x02\x04\0\0\xff\xff\x7f"
                              "x",
                              8),
                  "a chunk of 2097151 bytes"),
        std::pair(std::string("\xff\x06\0\0sNaPpX", 10),
                  "bad stream identifier"),
        std::pair(std::string("\xff\x01\0\0s", 5),
                  "a stream identifier of 1 bytes")}) {
    const Outcome outcome = ReadBytes(start + chunk);
    EXPECT_TRUE(outcome.error.starts_with("mem: byte ")) << what;
    EXPECT_NE(outcome.error.find(what), std::string::npos) << outcome.error;
  }
}

TEST(ByteSource, BombIsAnErrorThatNamesTheFlag) {
  const std::string zeros(100 << 20, '\0');
  const std::string bytes = Compress(zeros, Compression::kZstd);
  const Outcome outcome = ReadBytes(bytes, 1 << 20);
  EXPECT_TRUE(outcome.error.starts_with("mem: byte ")) << outcome.error;
  EXPECT_NE(outcome.error.find("more than 1000 times what is stored"),
            std::string::npos)
      << outcome.error;
  EXPECT_TRUE(outcome.error.ends_with("--max-expansion 10000"))
      << outcome.error;
  auto source = ByteSource::FromMemory("mem", bytes, 1000000);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(ReadAll(**source, 1 << 20).text.size(), zeros.size());
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
    // Has no end: see BadSnappyChunksAreErrors.
    if (compression == Compression::kSnappy) continue;
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
