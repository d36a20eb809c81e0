// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/snappy_decoder.h"

#include <fmt/format.h>
#include <snappy.h>

#include <algorithm>
#include <cstring>

#include "lookaside/trace/crc32c.h"

namespace lookaside {
namespace {

constexpr size_t kHeaderBytes = 4;
constexpr size_t kSumBytes = 4;
constexpr size_t kBlockBytes = size_t{64} << 10;
// What snappy makes of a block at worst: 32 + n + n/6.
constexpr size_t kMostBody = 32 + kBlockBytes + kBlockBytes / 6 + kSumBytes;
constexpr std::string_view kIdentifier = "sNaPpY";

enum Type : uint8_t {
  kCompressed = 0,
  kPlain = 1,
  kCompressedUnsummed = 2,
  kPlainUnsummed = 3,
  kFirstSkippable = 0x80,  // up to kPadding
  kStreamIdentifier = 0xff,
};

uint32_t Masked(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

}  // namespace

uint32_t SnappyDecoder::size() const {
  uint32_t header;
  std::memcpy(&header, collected_.data(), sizeof(header));
  return header >> 8;
}

DecodeStep SnappyDecoder::Decode(std::string_view input,
                                 std::span<char> output) {
  DecodeStep step;
  while (step.error.empty() && handed_out_ == block_.size() &&
         step.consumed < input.size()) {
    step.consumed += Collect(input.substr(step.consumed), step.error);
  }
  if (!step.error.empty()) return step;
  step.produced = std::min(output.size(), block_.size() - handed_out_);
  std::copy_n(block_.data() + handed_out_, step.produced, output.data());
  handed_out_ += step.produced;
  return step;
}

size_t SnappyDecoder::Collect(std::string_view input, std::string& error) {
  if (skip_ > 0) {
    const uint32_t count =
        static_cast<uint32_t>(std::min<size_t>(skip_, input.size()));
    skip_ -= count;
    return count;
  }
  const bool in_header = collected_.size() < kHeaderBytes;
  const size_t wanted = in_header ? kHeaderBytes : kHeaderBytes + size();
  const size_t count = std::min(wanted - collected_.size(), input.size());
  collected_.append(input.substr(0, count));
  if (collected_.size() < wanted) return count;
  if (in_header) error = CheckHeader();
  if (error.empty() && collected_.size() >= kHeaderBytes &&
      collected_.size() == kHeaderBytes + size()) {
    error = TakeChunk();
    collected_.clear();
  }
  return count;
}

std::string SnappyDecoder::CheckHeader() {
  if (type() == kStreamIdentifier) {
    if (size() == kIdentifier.size()) return "";
    return fmt::format("a stream identifier of {} bytes", size());
  }
  if (type() >= kFirstSkippable) {
    skip_ = size();
    collected_.clear();
    return "";
  }
  if (type() > kPlainUnsummed) {
    return fmt::format("a chunk of the unknown type {:#04x}", type());
  }
  const bool summed = type() <= kPlain;
  if (size() > kMostBody || (summed && size() < kSumBytes)) {
    return fmt::format("a chunk of {} bytes", size());
  }
  return "";
}

std::string SnappyDecoder::TakeChunk() {
  const std::string_view body =
      std::string_view(collected_).substr(kHeaderBytes);
  if (type() == kStreamIdentifier) {
    return body == kIdentifier ? "" : "a bad stream identifier";
  }
  return Unpack(body, type() == kCompressed || type() == kCompressedUnsummed,
                type() <= kPlain);
}

std::string SnappyDecoder::Unpack(std::string_view body, bool compressed,
                                  bool summed) {
  uint32_t sum = 0;
  if (summed) {
    std::memcpy(&sum, body.data(), kSumBytes);
    body.remove_prefix(kSumBytes);
  }
  size_t size = body.size();
  if (compressed &&
      !snappy::GetUncompressedLength(body.data(), body.size(), &size)) {
    return "a chunk without a size";
  }
  if (size > kBlockBytes) return fmt::format("a chunk of {} bytes", size);
  block_.resize(size);
  handed_out_ = 0;
  if (!compressed) {
    std::copy(body.begin(), body.end(), block_.begin());
  } else if (!snappy::RawUncompress(body.data(), body.size(), block_.data())) {
    return "bad data in a chunk";
  }
  if (summed && Masked(Crc32c(block_)) != sum) {
    return "bad check sum of a chunk (CRC-32C)";
  }
  return "";
}

}  // namespace lookaside
