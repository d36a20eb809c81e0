// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/open_trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lookaside/base/status.h"
#include "lookaside/test/trace/compress.h"

namespace lookaside {
namespace {

constexpr std::string_view kTrace =
    "==7== Command: ./p\n"
    "I  0401ab70,3\n"
    " L 1fff000708,8\n"
    "SYSCALL[7,1](3) sys_close ( 3 )[sync] --> Success(0x0) \n"
    "I  0401ab73,5\n"
    " S 1fff000710,16\n"
    " M 04223abc,4\n";
constexpr size_t kEvents = 5;

struct Outcome {
  std::vector<TraceEvent> events;
  std::string error;
  TraceInfo info;
};

Outcome ReadAll(absl::StatusOr<std::unique_ptr<TraceReader>> reader) {
  Outcome outcome;
  if (!reader.ok()) {
    outcome.error = Message(reader.status());
    return outcome;
  }
  std::vector<TraceEvent> buffer(3);
  while (const size_t n = (*reader)->Read(buffer)) {
    outcome.events.insert(outcome.events.end(), buffer.begin(),
                          buffer.begin() + static_cast<ptrdiff_t>(n));
  }
  outcome.error = Message((*reader)->status());
  outcome.info = (*reader)->info();
  return outcome;
}

Outcome ReadBytes(std::string_view bytes) {
  return ReadAll(OpenTraceFromMemory("mem", bytes));
}

// Standard input is this file while the object lives.
class StandardInput {
 public:
  explicit StandardInput(int file) : saved_(dup(STDIN_FILENO)) {
    dup2(file, STDIN_FILENO);
    close(file);
  }
  ~StandardInput() {
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int saved_;
};

TEST(OpenTrace, ReadsEveryCompression) {
  const Outcome plain = ReadBytes(kTrace);
  EXPECT_EQ(plain.error, "");
  EXPECT_EQ(plain.events.size(), kEvents);
  EXPECT_EQ(plain.info.format, "lackey");
  for (const Compression compression : kCompressed) {
    const Outcome outcome = ReadBytes(Compress(kTrace, compression));
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.events, plain.events);
    EXPECT_EQ(outcome.info.format,
              "lackey+" + std::string(Suffix(compression)));
  }
}

TEST(OpenTrace, ReadsStandardInputFromAPipeInSmallPieces) {
  for (const Compression compression :
       {Compression::kNone, Compression::kGzip, Compression::kXz,
        Compression::kZstd, Compression::kLz4, Compression::kBzip2,
        Compression::kSnappy}) {
    const std::string bytes = Compress(kTrace, compression);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const StandardInput input(ends[0]);
    std::thread writer([&bytes, &ends] {
      for (size_t i = 0; i < bytes.size(); i += 7) {
        const std::string piece = bytes.substr(i, 7);
        if (write(ends[1], piece.data(), piece.size()) < 0) break;
      }
      close(ends[1]);
    });
    const Outcome outcome = ReadAll(OpenTrace("-"));
    writer.join();
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.events.size(), kEvents);
    EXPECT_EQ(outcome.info.name, "-");
    EXPECT_EQ(outcome.info.bytes, bytes.size());
  }
}

TEST(OpenTrace, OtherFormatsAreRefusedByName) {
  EXPECT_EQ(
      ReadBytes("0 401000\n1 401008\n").error,
      "mem: is not a trace of a known format: it begins with '0 401000' "
      "(uncompressed); read are: native traces (.lkt), Valgrind lackey text "
      "(--trace-mem=yes) and DynamoRIO's final drmemtrace traces, plain or "
      "compressed by gzip, xz, zstd, lz4, bzip2, snappy or zip");
  EXPECT_NE(ReadBytes(Compress("0 401000\n", Compression::kXz))
                .error.find("'0 401000' (xz)"),
            std::string::npos);
  EXPECT_EQ(ReadBytes(Compress("", Compression::kGzip)).error,
            "mem: is empty once decompressed (gzip)");
  EXPECT_EQ(ReadBytes("").error, "mem: is empty");
  EXPECT_EQ(ReadAll(OpenTrace("/no/such/file")).error,
            "/no/such/file: cannot be opened: No such file or directory");
}

TEST(OpenTrace, OtherCompressionsAreNamedWithWhatUnpacksThem) {
  EXPECT_EQ(ReadBytes("\x02\x21\x4c\x18\x64\x40\xa7").error,
            "mem: is compressed by lz4 -l (its legacy frame), which is not "
            "read; read are gzip, xz, zstd, lz4, bzip2, snappy and zip: unpack "
            "it first (lz4 -dc FILE > TRACE)");
  for (const auto& [bytes, name] :
       {std::pair(std::string("\x5d\0\0\x80\0", 5), "lzma"),
        std::pair(std::string("LZIP\x01"), "lzip"),
        std::pair(std::string("\x1f\x9d\x90"), "compress"),
        std::pair(std::string("7z\xbc\xaf\x27\x1c"), "7z")}) {
    EXPECT_EQ(ReadBytes(bytes).error.find(
                  std::string("mem: is compressed by ") + name + ","),
              0u)
        << name;
  }
}

TEST(OpenTrace, BadTextInSoundCompressionIsCalledBadText) {
  const std::string text =
      std::string(kTrace) + "hello\n" + std::string(kTrace);
  for (const Compression compression : kCompressed) {
    const std::string error = ReadBytes(Compress(text, compression)).error;
    EXPECT_EQ(error.find("mem: line "), 0u) << error;
  }
}

// A cut plain trace is whole only where the text before the cut is whole.
TEST(OpenTrace, PlainTraceCutAnywhereIsNeverTakenForWhole) {
  for (size_t size = 0; size < kTrace.size(); ++size) {
    const Outcome outcome = ReadBytes(kTrace.substr(0, size));
    if (!outcome.error.empty()) continue;
    const bool at_line = kTrace[size - 1] == '\n';
    const std::vector<std::string>& warnings = outcome.info.warnings;
    const bool warned =
        !warnings.empty() && warnings.back().starts_with("the last line");
    EXPECT_TRUE(at_line != warned) << size;
  }
}

TEST(OpenTrace, CompressedTraceCutAnywhereIsAnError) {
  for (const Compression compression : kCompressed) {
    const std::string bytes = Compress(kTrace, compression);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_NE(ReadBytes(std::string_view(bytes).substr(0, size)).error, "")
          << Name(compression) << size;
    }
  }
}

TEST(OpenTrace, CorruptByteIsAnErrorOrHarmless) {
  const Outcome whole = ReadBytes(kTrace);
  for (const Compression compression : kCompressed) {
    const std::string good = Compress(kTrace, compression);
    for (size_t at = 0; at < good.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        const Outcome outcome = ReadBytes(bytes);
        if (!outcome.error.empty()) {
          // Not the text that came of it is bad, but the file.
          EXPECT_EQ(outcome.error.find("mem: line"), std::string::npos)
              << outcome.error;
          continue;
        }
        EXPECT_EQ(outcome.events, whole.events)
            << Name(compression) << " byte " << at << " flip " << flip;
      }
    }
  }
}

}  // namespace
}  // namespace lookaside
