// SPDX-License-Identifier: Apache-2.0
//
// Streaming decompression, one implementation per compressed format: gzip
// (RFC 1952, zlib), xz (the .xz file format 1.1.0, liblzma), zstd (RFC 8878),
// lz4 (its frame format 1.6, liblz4), bzip2 (libbz2) and snappy's framing
// format (trace/snappy_decoder.h). A file is a row of members (gzip), streams
// with padding (xz), frames (zstd, lz4) or streams (bzip2, snappy); one decoder
// goes through all of them. A zip is no stream: trace/zip_parts.h.
//
// Leaves out: other compressions, which are told by name; dictionaries;
// seeking. Invariants: memory is bounded (128 MiB of history at most, as the
// tools' own defaults for reading); at_boundary() is true before the first byte
// and whenever a member is complete and all its output was handed out. Not
// thread-safe.
//
//   const Compression compression = DetectCompression(first_bytes);
//   auto decoder = MakeDecoder(compression);   // null for kNone
//   const DecodeStep step = decoder->Decode(input, output);
#ifndef LOOKASIDE_TRACE_DECODER_H_
#define LOOKASIDE_TRACE_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lookaside {

enum class Compression : uint8_t {
  kNone = 0,
  kGzip,
  kXz,
  kZstd,
  kLz4,
  kBzip2,
  kSnappy,
  kZip,
};

// As in the name of a file: "", "gz", "xz", "zst", "lz4", "bz2", "sz", "zip".
std::string_view Suffix(Compression compression);
// As in a message: "uncompressed", "gzip", "xz", "zstd", and so on.
std::string_view Name(Compression compression);

// By the first bytes; 6 suffice. A zstd stream may begin with a skippable
// frame.
Compression DetectCompression(std::string_view first_bytes);

// What else a file may be compressed or packed by, and what unpacks it.
struct OtherCompression {
  std::string_view name;
  std::string_view command;  // to standard output, before the file's name
};

// By the first bytes; 6 suffice.
std::optional<OtherCompression> DetectOtherCompression(
    std::string_view first_bytes);

struct DecodeStep {
  size_t consumed = 0;
  size_t produced = 0;
  std::string error;  // empty if all is well
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  // Takes a prefix of `input` (empty: hands out what is left) and fills a
  // prefix of `output`. After an error it may not be called again.
  // REQUIRES: !output.empty().
  virtual DecodeStep Decode(std::string_view input, std::span<char> output) = 0;

  virtual bool at_boundary() const = 0;
};

// Null for kNone and kZip.
std::unique_ptr<Decoder> MakeDecoder(Compression compression);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_DECODER_H_
