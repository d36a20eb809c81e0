// SPDX-License-Identifier: Apache-2.0
//
// Snappy's framing format (framing_format.txt of google/snappy), with the
// chunks without check sums that DynamoRIO writes too (types 2 and 3). A stream
// is an identifier and then chunks of at most 64 KiB; it has no end mark, so
// that one cut between chunks looks whole. As trace/decoder.h.
#ifndef LOOKASIDE_TRACE_SNAPPY_DECODER_H_
#define LOOKASIDE_TRACE_SNAPPY_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lookaside/trace/decoder.h"

namespace lookaside {

class SnappyDecoder final : public Decoder {
 public:
  DecodeStep Decode(std::string_view input, std::span<char> output) override;
  bool at_boundary() const override {
    return collected_.empty() && skip_ == 0 && handed_out_ == block_.size();
  }

 private:
  // Takes what the header or the body of a chunk still lacks.
  size_t Collect(std::string_view input, std::string& error);
  std::string CheckHeader();
  std::string TakeChunk();
  std::string Unpack(std::string_view body, bool compressed, bool summed);

  uint8_t type() const { return static_cast<uint8_t>(collected_[0]); }
  uint32_t size() const;

  std::string collected_;  // of the chunk at hand
  uint32_t skip_ = 0;      // bytes of a chunk of no interest
  std::string block_;      // what the last chunk held
  size_t handed_out_ = 0;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_SNAPPY_DECODER_H_
