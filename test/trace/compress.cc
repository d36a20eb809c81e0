// SPDX-License-Identifier: Apache-2.0
#include "lookaside/test/trace/compress.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>

#include "lookaside/base/check.h"

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

}  // namespace

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
  }
  return {};
}

}  // namespace lookaside
