// SPDX-License-Identifier: Apache-2.0
#include "lookaside/test/trace/compress.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <snappy.h>
#include <zip.h>
#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>

#include "lookaside/base/check.h"
#include "lookaside/trace/crc32c.h"

namespace lookaside {
namespace {

std::string Gzip(std::string_view text) {
  z_stream stream{};
  LOOKASIDE_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16,
                               8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  LOOKASIDE_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Xz(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  LOOKASIDE_CHECK(lzma_easy_buffer_encode(
                      1, LZMA_CHECK_CRC64, nullptr,
                      reinterpret_cast<const uint8_t*>(text.data()),
                      text.size(), reinterpret_cast<uint8_t*>(out.data()),
                      &size, out.size()) == LZMA_OK);
  out.resize(size);
  return out;
}

std::string Zstd(std::string_view text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size =
      ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  LOOKASIDE_CHECK(!ZSTD_isError(size));
  ZSTD_freeCCtx(context);
  out.resize(size);
  return out;
}

std::string Lz4(std::string_view text) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  std::string out(LZ4F_compressFrameBound(text.size(), &preferences), '\0');
  const size_t size = LZ4F_compressFrame(out.data(), out.size(), text.data(),
                                         text.size(), &preferences);
  LOOKASIDE_CHECK(!LZ4F_isError(size));
  out.resize(size);
  return out;
}

std::string Bzip2(std::string_view text) {
  std::string in(text);
  unsigned size = static_cast<unsigned>(text.size() + text.size() / 100 + 600);
  std::string out(size, '\0');
  LOOKASIDE_CHECK(BZ2_bzBuffToBuffCompress(out.data(), &size, in.data(),
                                           static_cast<unsigned>(in.size()), 9,
                                           0, 0) == BZ_OK);
  out.resize(size);
  return out;
}

std::string LittleEndian(uint32_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>((value >> (8 * i)) & 0xff);
  }
  return out;
}

std::string Snappy(std::string_view text) {
  constexpr size_t kBlock = 65536;
  std::string out("\xff\x06\0\0sNaPpY", 10);
  for (size_t at = 0; at < text.size(); at += kBlock) {
    const std::string_view block = text.substr(at, kBlock);
    std::string body;
    snappy::Compress(block.data(), block.size(), &body);
    const uint32_t crc = Crc32c(block);
    const uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8;
    out += LittleEndian(0, 1) +
           LittleEndian(static_cast<uint32_t>(body.size() + 4), 3) +
           LittleEndian(masked, 4) + body;
  }
  return out;
}

}  // namespace

std::string Zip(
    const std::vector<std::pair<std::string, std::string>>& members) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const target = zip_source_buffer_create(nullptr, 0, 0, &error);
  LOOKASIDE_CHECK(target != nullptr);
  zip_t* const archive = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  LOOKASIDE_CHECK(archive != nullptr);
  zip_source_keep(target);
  for (const auto& [name, text] : members) {
    zip_source_t* const source =
        zip_source_buffer(archive, text.data(), text.size(), 0);
    const zip_int64_t index =
        zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    LOOKASIDE_CHECK(index >= 0);
    zip_file_set_mtime(archive, static_cast<zip_uint64_t>(index), 315532800, 0);
  }
  LOOKASIDE_CHECK(zip_close(archive) == 0);
  LOOKASIDE_CHECK(zip_source_open(target) == 0);
  zip_stat_t about;
  LOOKASIDE_CHECK(zip_source_stat(target, &about) == 0);
  std::string out(about.size, '\0');
  LOOKASIDE_CHECK(zip_source_read(target, out.data(), out.size()) ==
                  static_cast<zip_int64_t>(out.size()));
  zip_source_close(target);
  zip_source_free(target);
  return out;
}

std::string Compress(std::string_view text, Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return std::string(text);
    case Compression::kGzip:
      return Gzip(text);
    case Compression::kXz:
      return Xz(text);
    case Compression::kZstd:
      return Zstd(text);
    case Compression::kLz4:
      return Lz4(text);
    case Compression::kBzip2:
      return Bzip2(text);
    case Compression::kSnappy:
      return Snappy(text);
    case Compression::kZip:
      return Zip({{"text", std::string(text)}});
  }
  return {};
}

}  // namespace lookaside
