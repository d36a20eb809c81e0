// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/decoder.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "lookaside/base/check.h"
#include "lookaside/trace/snappy_decoder.h"

namespace lookaside {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kXzMagic("\xfd\x37zXZ\0", 6);
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::string_view kLz4Magic = "\x04\x22\x4d\x18";
constexpr std::string_view kSnappyMagic("\xff\x06\0\0sN", 6);
constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::string_view kEmptyZipMagic = "PK\x05\x06";
constexpr unsigned kMaxHistoryLog = 27;  // 128 MiB

uint8_t* Bytes(char* text) { return reinterpret_cast<uint8_t*>(text); }
const uint8_t* Bytes(const char* text) {
  return reinterpret_cast<const uint8_t*>(text);
}

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    // 16: gzip only, so that zlib checks its header and CRC-32.
    LOOKASIDE_CHECK(inflateInit2(&stream_, 15 + 16) == Z_OK);
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  DecodeStep Decode(std::string_view input, std::span<char> output) override {
    if (at_boundary_ && !input.empty()) {
      inflateReset(&stream_);
      at_boundary_ = false;
    }
    constexpr size_t kMost = std::numeric_limits<uInt>::max();
    const size_t in = std::min(input.size(), kMost);
    const size_t out = std::min(output.size(), kMost);
    stream_.next_in = const_cast<Bytef*>(Bytes(input.data()));
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = Bytes(output.data());
    stream_.avail_out = static_cast<uInt>(out);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    at_boundary_ = result == Z_STREAM_END;
    DecodeStep step{in - stream_.avail_in, out - stream_.avail_out, ""};
    // Z_BUF_ERROR is only a lack of input or of room.
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      step.error = stream_.msg != nullptr ? stream_.msg : zError(result);
    }
    return step;
  }

  bool at_boundary() const override { return at_boundary_; }

 private:
  z_stream stream_{};
  bool at_boundary_ = true;
};

std::string XzError(lzma_ret result) {
  switch (result) {
    case LZMA_MEMLIMIT_ERROR:
      return "needs more than 144 MiB of memory to decompress";
    case LZMA_OPTIONS_ERROR:
      return "has options that liblzma does not support";
    case LZMA_FORMAT_ERROR:
      return "bad stream header";
    case LZMA_DATA_ERROR:
      return "bad data or check sum";
    default:
      return "liblzma error " + std::to_string(static_cast<int>(result));
  }
}

class XzDecoder : public Decoder {
 public:
  XzDecoder() = default;
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  DecodeStep Decode(std::string_view input, std::span<char> output) override {
    if (at_boundary_) {
      if (input.starts_with('\0')) return SkipPadding(input);
      if (padding_ % 4 != 0) return {0, 0, "padding is not a multiple of 4"};
      if (Restart() != LZMA_OK) return {0, 0, "no memory to decompress"};
    }
    stream_.next_in = Bytes(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = Bytes(output.data());
    stream_.avail_out = output.size();
    const lzma_ret result = lzma_code(&stream_, LZMA_RUN);
    at_boundary_ = result == LZMA_STREAM_END;
    DecodeStep step{input.size() - stream_.avail_in,
                    output.size() - stream_.avail_out, ""};
    // LZMA_BUF_ERROR is only a lack of input or of room.
    if (result != LZMA_OK && result != LZMA_STREAM_END &&
        result != LZMA_BUF_ERROR) {
      step.error = XzError(result);
    }
    return step;
  }

  bool at_boundary() const override {
    return at_boundary_ && padding_ % 4 == 0;
  }

 private:
  // Beyond the history, liblzma wants a little for its own tables.
  static constexpr uint64_t kMaxBytes =
      (uint64_t{1} << kMaxHistoryLog) + (uint64_t{16} << 20);

  lzma_ret Restart() {
    at_boundary_ = false;
    padding_ = 0;
    return lzma_stream_decoder(&stream_, kMaxBytes, 0);
  }

  DecodeStep SkipPadding(std::string_view input) {
    const size_t zeros = std::min(input.find_first_not_of('\0'), input.size());
    padding_ += zeros;
    return {zeros, 0, ""};
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool at_boundary_ = true;
  uint64_t padding_ = 0;  // zero bytes after the last stream
};

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    LOOKASIDE_CHECK(stream_ != nullptr);
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax,
                           static_cast<int>(kMaxHistoryLog));
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  DecodeStep Decode(std::string_view input, std::span<char> output) override {
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    const size_t result = ZSTD_decompressStream(stream_, &out, &in);
    DecodeStep step{in.pos, out.pos, ""};
    if (ZSTD_isError(result)) {
      step.error = ZSTD_getErrorName(result);
      at_boundary_ = false;
    } else if (in.pos > 0 || out.pos > 0) {
      at_boundary_ = result == 0;
    }
    return step;
  }

  bool at_boundary() const override { return at_boundary_; }

 private:
  ZSTD_DStream* const stream_;
  bool at_boundary_ = true;
};

class Lz4Decoder : public Decoder {
 public:
  Lz4Decoder() {
    LOOKASIDE_CHECK(!LZ4F_isError(
        LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)));
  }
  ~Lz4Decoder() override { LZ4F_freeDecompressionContext(context_); }
  Lz4Decoder(const Lz4Decoder&) = delete;
  Lz4Decoder& operator=(const Lz4Decoder&) = delete;

  DecodeStep Decode(std::string_view input, std::span<char> output) override {
    size_t in = input.size();
    size_t out = output.size();
    const size_t result = LZ4F_decompress(context_, output.data(), &out,
                                          input.data(), &in, nullptr);
    if (LZ4F_isError(result)) return {in, 0, LZ4F_getErrorName(result)};
    if (in > 0 || out > 0) at_boundary_ = result == 0;
    return {in, out, ""};
  }

  bool at_boundary() const override { return at_boundary_; }

 private:
  LZ4F_dctx* context_ = nullptr;
  bool at_boundary_ = true;
};

std::string Bzip2Error(int result) {
  switch (result) {
    case BZ_DATA_ERROR:
      return "bad data or check sum";
    case BZ_DATA_ERROR_MAGIC:
      return "bad stream header";
    case BZ_MEM_ERROR:
      return "no memory to decompress";
    default:
      return "libbz2 error " + std::to_string(result);
  }
}

class Bzip2Decoder : public Decoder {
 public:
  Bzip2Decoder() = default;
  ~Bzip2Decoder() override { End(); }
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;

  DecodeStep Decode(std::string_view input, std::span<char> output) override {
    if (at_boundary_) Restart();
    constexpr size_t kMost = std::numeric_limits<unsigned>::max();
    const size_t in = std::min(input.size(), kMost);
    const size_t out = std::min(output.size(), kMost);
    stream_.next_in = const_cast<char*>(input.data());
    stream_.avail_in = static_cast<unsigned>(in);
    stream_.next_out = output.data();
    stream_.avail_out = static_cast<unsigned>(out);
    const int result = BZ2_bzDecompress(&stream_);
    at_boundary_ = result == BZ_STREAM_END;
    DecodeStep step{in - stream_.avail_in, out - stream_.avail_out, ""};
    if (result != BZ_OK && result != BZ_STREAM_END) {
      step.error = Bzip2Error(result);
    }
    return step;
  }

  bool at_boundary() const override { return at_boundary_; }

 private:
  void Restart() {
    End();
    stream_ = {};
    at_boundary_ = false;
    begun_ = true;
    LOOKASIDE_CHECK(BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK);
  }
  void End() {
    if (begun_) BZ2_bzDecompressEnd(&stream_);
  }

  bz_stream stream_{};
  bool begun_ = false;
  bool at_boundary_ = true;
};

bool IsBzip2(std::string_view bytes) {
  if (bytes.size() < 6 || !bytes.starts_with("BZh")) return false;
  // The block size, and the first digits of pi or of its square root.
  const std::string_view digits = bytes.substr(4, 2);
  return bytes[3] >= '1' && bytes[3] <= '9' &&
         (digits == "1A" || digits == "\x17\x72");
}

// Frames of any content that a reader jumps over: 0x184d2a50 to 0x184d2a5f.
bool IsSkippableFrame(std::string_view bytes) {
  return bytes.size() >= 4 && (Bytes(bytes.data())[0] & 0xf0) == 0x50 &&
         bytes.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

std::string_view Suffix(Compression compression) {
  constexpr std::string_view kSuffixes[] = {"",    "gz",  "xz", "zst",
                                            "lz4", "bz2", "sz", "zip"};
  return kSuffixes[static_cast<int>(compression)];
}

std::string_view Name(Compression compression) {
  constexpr std::string_view kNames[] = {
      "uncompressed", "gzip", "xz", "zstd", "lz4", "bzip2", "snappy", "zip"};
  return kNames[static_cast<int>(compression)];
}

Compression DetectCompression(std::string_view first_bytes) {
  if (first_bytes.starts_with(kGzipMagic)) return Compression::kGzip;
  if (first_bytes.starts_with(kXzMagic)) return Compression::kXz;
  if (first_bytes.starts_with(kZstdMagic) || IsSkippableFrame(first_bytes)) {
    return Compression::kZstd;
  }
  if (first_bytes.starts_with(kLz4Magic)) return Compression::kLz4;
  if (IsBzip2(first_bytes)) return Compression::kBzip2;
  if (first_bytes.starts_with(kSnappyMagic)) return Compression::kSnappy;
  if (first_bytes.starts_with(kZipMagic) ||
      first_bytes.starts_with(kEmptyZipMagic)) {
    return Compression::kZip;
  }
  return Compression::kNone;
}

std::optional<OtherCompression> DetectOtherCompression(
    std::string_view first_bytes) {
  struct Magic {
    std::string_view bytes;
    OtherCompression compression;
  };
  constexpr Magic kMagics[] = {
      {"\x02\x21\x4c\x18", {"lz4 -l (its legacy frame)", "lz4 -dc"}},
      {std::string_view("\x5d\x00\x00", 3), {"lzma", "xz --format=lzma -dc"}},
      {"LZIP", {"lzip", "lzip -dc"}},
      {"\x1f\x9d", {"compress", "uncompress -c"}},
      {"7z\xbc\xaf\x27\x1c", {"7z", "7z x -so"}},
  };
  for (const Magic& magic : kMagics) {
    if (first_bytes.starts_with(magic.bytes)) return magic.compression;
  }
  return std::nullopt;
}

std::unique_ptr<Decoder> MakeDecoder(Compression compression) {
  switch (compression) {
    case Compression::kNone:
    case Compression::kZip:
      return nullptr;
    case Compression::kGzip:
      return std::make_unique<GzipDecoder>();
    case Compression::kXz:
      return std::make_unique<XzDecoder>();
    case Compression::kZstd:
      return std::make_unique<ZstdDecoder>();
    case Compression::kLz4:
      return std::make_unique<Lz4Decoder>();
    case Compression::kBzip2:
      return std::make_unique<Bzip2Decoder>();
    case Compression::kSnappy:
      return std::make_unique<SnappyDecoder>();
  }
  return nullptr;
}

}  // namespace lookaside
