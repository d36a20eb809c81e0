// SPDX-License-Identifier: Apache-2.0
//
// Integers of the native format: little-endian of a fixed width, and LEB128
// (seven bits a byte, the lowest first, the top bit on all but the last); a
// signed difference is zigzag-coded first.
//
//   AppendVarint(bytes, ZigZag(address - before));
//   ByteReader reader(bytes);
//   const uint64_t difference = UnZigZag(reader.Varint());
//   if (!reader.ok()) ...                       // what was read is 0 from
//   there
#ifndef LOOKASIDE_TRACE_VARINT_H_
#define LOOKASIDE_TRACE_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lookaside {

inline constexpr size_t kMostVarintBytes = 10;

// Differences modulo 2^64; small ones of either sign become small.
constexpr uint64_t ZigZag(uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr uint64_t UnZigZag(uint64_t coded) {
  return (coded >> 1) ^ (0 - (coded & 1));
}

inline void AppendVarint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    bytes.push_back(static_cast<char>(value | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
}

template <typename Unsigned>
void AppendFixed(std::string& bytes, Unsigned value) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
}

inline void AppendText(std::string& bytes, std::string_view text) {
  AppendVarint(bytes, text.size());
  bytes.append(text);
}

// Reads from the front of bytes that it does not own. What does not fit leaves
// it not ok, for good.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

  std::string_view Bytes(uint64_t count) {
    if (count > rest_.size()) return Fail();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  uint64_t Varint() {
    uint64_t value = 0;
    for (size_t i = 0; i < rest_.size() && i < kMostVarintBytes; ++i) {
      const auto byte = static_cast<uint8_t>(rest_[i]);
      if (i + 1 == kMostVarintBytes && byte > 1) break;  // past 64 bits
      value |= uint64_t{byte & 0x7fu} << (7 * i);
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return value;
      }
    }
    Fail();
    return 0;
  }

  // A varint that is at most `most`.
  uint64_t VarintUpTo(uint64_t most) {
    const uint64_t value = Varint();
    if (value <= most) return value;
    Fail();
    return 0;
  }

  template <typename Unsigned>
  Unsigned Fixed() {
    Unsigned value = 0;
    const std::string_view bytes = Bytes(sizeof(value));
    for (size_t i = 0; i < bytes.size(); ++i) {
      value = static_cast<Unsigned>(
          value | static_cast<Unsigned>(static_cast<uint8_t>(bytes[i]))
                      << (8 * i));
    }
    return value;
  }

  std::string_view Text() { return Bytes(Varint()); }

 private:
  std::string_view Fail() {
    ok_ = false;
    rest_ = {};
    return {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_VARINT_H_
