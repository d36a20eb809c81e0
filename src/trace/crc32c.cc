// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/crc32c.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace lookaside {
namespace {

static_assert(std::endian::native == std::endian::little);

using Table = std::array<uint32_t, 256>;
constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

// kTables[n][b]: what byte b does that n more bytes follow.
constexpr std::array<Table, 8> MakeTables() {
  std::array<Table, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (size_t n = 1; n < tables.size(); ++n) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[n - 1][byte];
      tables[n][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr std::array<Table, 8> kTables = MakeTables();

uint32_t EightBytes(uint32_t crc, const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  word ^= crc;
  uint32_t next = 0;
  for (size_t i = 0; i < 8; ++i)
    next ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  return next;
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    crc = EightBytes(crc, bytes.data());
  }
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  }
  return ~crc;
}

}  // namespace lookaside
