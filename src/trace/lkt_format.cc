// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lkt_format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/trace/varint.h"

namespace lookaside {
namespace {

constexpr size_t kSummed = 16;  // bytes of either header before its sum

uint64_t Sum(std::string_view first, std::string_view second) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace

std::string EncodeHeader(const LktHeader& header) {
  std::string metadata;
  AppendText(metadata, header.origin.name);
  AppendText(metadata, header.origin.format);
  AppendText(metadata, header.origin.tool);
  AppendText(metadata, header.origin.command);
  AppendVarint(metadata, header.origin.setup_accesses);
  AppendVarint(metadata, header.origin.has_fetches ? 1 : 0);
  std::string bytes(kLktMagic);
  AppendFixed(bytes, header.version);
  AppendFixed(bytes, static_cast<uint16_t>(header.content));
  AppendFixed(bytes, static_cast<uint32_t>(metadata.size()));
  AppendFixed(bytes, Sum(bytes, metadata));
  return bytes + metadata;
}

LktFixedHeader DecodeFixedHeader(std::string_view fixed) {
  LOOKASIDE_CHECK(fixed.size() == kLktHeaderBytes);
  ByteReader reader(fixed.substr(kLktMagic.size()));
  LktFixedHeader header;
  header.version = reader.Fixed<uint16_t>();
  header.content = reader.Fixed<uint16_t>();
  header.metadata = reader.Fixed<uint32_t>();
  header.xxh3 = reader.Fixed<uint64_t>();
  return header;
}

std::optional<LktOrigin> DecodeMetadata(std::string_view fixed,
                                        std::string_view metadata) {
  if (Sum(fixed.substr(0, kSummed), metadata) !=
      DecodeFixedHeader(fixed).xxh3) {
    return std::nullopt;
  }
  ByteReader reader(metadata);
  LktOrigin origin;
  origin.name = reader.Text();
  origin.format = reader.Text();
  origin.tool = reader.Text();
  origin.command = reader.Text();
  origin.setup_accesses = reader.Varint();
  origin.has_fetches = reader.VarintUpTo(1) != 0;
  if (!reader.ok() || !reader.rest().empty()) return std::nullopt;
  return origin;
}

std::string EncodeBlock(LktBlockKind kind, std::string_view raw,
                        uint32_t events, int level) {
  LOOKASIDE_CHECK(raw.size() <= kLktMostRaw);
  std::string stored(ZSTD_compressBound(raw.size()), '\0');
  const size_t size = ZSTD_compress(stored.data(), stored.size(), raw.data(),
                                    raw.size(), level);
  LOOKASIDE_CHECK(!ZSTD_isError(size));
  stored.resize(size);
  std::string bytes;
  AppendFixed(bytes, static_cast<uint32_t>(kind));
  AppendFixed(bytes, static_cast<uint32_t>(size));
  AppendFixed(bytes, static_cast<uint32_t>(raw.size()));
  AppendFixed(bytes, events);
  AppendFixed(bytes, BlockSum(bytes, stored));
  return bytes + stored;
}

LktBlockHeader DecodeBlockHeader(std::string_view bytes) {
  ByteReader reader(bytes);
  LktBlockHeader header;
  header.kind = static_cast<LktBlockKind>(reader.Fixed<uint32_t>());
  header.stored = reader.Fixed<uint32_t>();
  header.raw = reader.Fixed<uint32_t>();
  header.events = reader.Fixed<uint32_t>();
  header.xxh3 = reader.Fixed<uint64_t>();
  LOOKASIDE_CHECK(reader.ok());
  return header;
}

uint64_t BlockSum(std::string_view header, std::string_view stored) {
  return Sum(header.substr(0, kSummed), stored);
}

std::string EncodeTrailer(uint64_t footer_offset) {
  std::string bytes;
  AppendFixed(bytes, footer_offset);
  bytes.append(kLktEnd);
  return bytes;
}

}  // namespace lookaside
