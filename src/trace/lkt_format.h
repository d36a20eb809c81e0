// SPDX-License-Identifier: Apache-2.0
//
// The frame of a native trace file (.lkt), byte by byte; docs/trace_format.md
// is the grammar in prose. All integers are little-endian.
//
//   header   magic[8] version:u16 content:u16 metadata bytes:u32
//            XXH3-64 of the 16 bytes before and the metadata:u64  metadata
//   blocks   kind:u32 stored bytes:u32 raw bytes:u32 events:u32
//            XXH3-64 of the 16 bytes before and the stored bytes:u64
//            stored bytes, one zstd frame of the raw bytes
//   trailer  offset of the footer block:u64 magic[8]
//
// Event blocks (lkt_events.h) hold the trace; one footer block, the last, holds
// what is known only at its end (lkt_footer.h).
#ifndef LOOKASIDE_TRACE_LKT_FORMAT_H_
#define LOOKASIDE_TRACE_LKT_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lookaside {

inline constexpr std::string_view kLktMagic("\x89LKT\r\n\x1a\n", 8);
inline constexpr std::string_view kLktEnd("LKTEND\r\n", 8);
inline constexpr uint16_t kLktVersion = 1;
inline constexpr size_t kLktHeaderBytes = 24;  // before the metadata
inline constexpr size_t kLktBlockBytes = 24;   // before the stored bytes
inline constexpr size_t kLktTrailerBytes = 16;

// Limits that a reader holds a file to, so that its memory is bounded.
inline constexpr uint32_t kLktMostMetadata = uint32_t{1} << 20;
inline constexpr uint32_t kLktMostRaw = uint32_t{64} << 20;
inline constexpr uint32_t kLktMostEvents = uint32_t{1} << 20;  // of a block

enum class LktContent : uint16_t {
  kEvents = 0,  // every event with its whole address
};

enum class LktBlockKind : uint32_t { kEvents = 1, kFooter = 2 };

// Where a file comes from.
struct LktOrigin {
  std::string name;     // of the trace it was made from
  std::string format;   // of that trace
  std::string tool;     // that wrote the file, with its version
  std::string command;  // the command line
  // As in TraceInfo, where they are known from the beginning.
  uint64_t setup_accesses = 0;
  bool has_fetches = false;

  friend bool operator==(const LktOrigin&, const LktOrigin&) = default;
};

struct LktHeader {
  uint16_t version = kLktVersion;
  LktContent content = LktContent::kEvents;
  LktOrigin origin;
};

struct LktBlockHeader {
  LktBlockKind kind = LktBlockKind::kEvents;
  uint32_t stored = 0;
  uint32_t raw = 0;
  uint32_t events = 0;
  uint64_t xxh3 = 0;
};

std::string EncodeHeader(const LktHeader& header);

// The fixed part of a header, of which `fixed` is all.
struct LktFixedHeader {
  uint16_t version = 0;
  uint16_t content = 0;
  uint32_t metadata = 0;  // bytes
  uint64_t xxh3 = 0;
};
LktFixedHeader DecodeFixedHeader(std::string_view fixed);
// Nothing if the sum or the layout is not right.
std::optional<LktOrigin> DecodeMetadata(std::string_view fixed,
                                        std::string_view metadata);

// Header and payload of a block, compressed at that zstd level.
std::string EncodeBlock(LktBlockKind kind, std::string_view raw,
                        uint32_t events, int level);
LktBlockHeader DecodeBlockHeader(std::string_view bytes);
// Of the first 16 bytes of a block's header and what it stores.
uint64_t BlockSum(std::string_view header, std::string_view stored);

std::string EncodeTrailer(uint64_t footer_offset);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_LKT_FORMAT_H_
