// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lkt_reader.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"
#include "lookaside/trace/quoted.h"

namespace lookaside {

bool LooksLikeLkt(std::string_view head) { return head.starts_with(kLktMagic); }

template <typename... Args>
absl::Status LktReader::Broken(std::string_view format, Args&&... args) const {
  return DataLoss("{}: byte {}: {}", source_->name(), block_,
                  fmt::format(fmt::runtime(format), args...));
}

absl::StatusOr<std::unique_ptr<LktReader>> LktReader::Open(
    std::unique_ptr<ByteSource> source, std::string_view head) {
  std::unique_ptr<LktReader> reader(new LktReader(std::move(source), head));
  LOOKASIDE_RETURN_IF_ERROR(reader->ReadHeader());
  return reader;
}

std::string LktReader::Take(size_t count) {
  std::string bytes = head_.substr(0, count);
  head_.erase(0, bytes.size());
  size_t size = bytes.size();
  bytes.resize(count);
  while (size < count) {
    const size_t got = source_->Read(std::span(bytes).subspan(size));
    if (got == 0) break;
    size += got;
  }
  bytes.resize(size);
  offset_ += size;
  return bytes;
}

absl::StatusOr<std::string> LktReader::TakePart(size_t count,
                                                std::string_view what) {
  std::string bytes = Take(count);
  if (bytes.size() == count) return bytes;
  LOOKASIDE_RETURN_IF_ERROR(source_->status());
  return DataLoss(
      "{}: is cut off at byte {}, within {}: a whole file ends with its footer",
      source_->name(), offset_, what);
}

absl::Status LktReader::ReadHeader() {
  LOOKASIDE_ASSIGN_OR_RETURN(const std::string fixed,
                             TakePart(kLktHeaderBytes, "its header"));
  if (!LooksLikeLkt(fixed)) {
    return InvalidArgument(
        "{}: is no native trace (.lkt): it begins with {}", source_->name(),
        Quoted(std::string_view(fixed).substr(0, kLktMagic.size())));
  }
  const LktFixedHeader header = DecodeFixedHeader(fixed);
  if (header.version != kLktVersion) {
    return InvalidArgument(
        "{}: is a native trace of version {}; this program reads version {}",
        source_->name(), header.version, kLktVersion);
  }
  if (header.metadata > kLktMostMetadata) {
    return Broken("the header claims {} bytes of metadata; {} is the most",
                  header.metadata, kLktMostMetadata);
  }
  LOOKASIDE_ASSIGN_OR_RETURN(const std::string metadata,
                             TakePart(header.metadata, "its header"));
  auto origin = DecodeMetadata(fixed, metadata);
  if (!origin) return Broken("the header is not what its sum says");
  if (header.content != static_cast<uint16_t>(LktContent::kEvents)) {
    return Broken("content {} is not known; known is 0 (events)",
                  header.content);
  }
  origin_ = *std::move(origin);
  return absl::OkStatus();
}

absl::StatusOr<std::string> LktReader::Unpack(const LktBlockHeader& block,
                                              std::string_view stored) const {
  std::string raw(block.raw, '\0');
  const size_t size =
      ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size)) {
    return Broken("the block cannot be decompressed: {}",
                  ZSTD_getErrorName(size));
  }
  if (size != raw.size()) {
    return Broken("the block decompresses to {} bytes; its header says {}",
                  size, raw.size());
  }
  return raw;
}

absl::Status LktReader::BeginBlock() {
  block_ = offset_;
  LOOKASIDE_ASSIGN_OR_RETURN(const std::string bytes,
                             TakePart(kLktBlockBytes, "a block's header"));
  const LktBlockHeader block = DecodeBlockHeader(bytes);
  // Before anything of that size is taken into memory.
  if (block.raw > kLktMostRaw || block.stored > ZSTD_compressBound(block.raw) ||
      block.events > kLktMostEvents) {
    return Broken(
        "a block of {} events, {} bytes, {} stored, is more than any writer "
        "makes ({} events, {} bytes)",
        block.events, block.raw, block.stored, kLktMostEvents, kLktMostRaw);
  }
  LOOKASIDE_ASSIGN_OR_RETURN(const std::string stored,
                             TakePart(block.stored, "a block"));
  if (BlockSum(bytes, stored) != block.xxh3) {
    return Broken("the block is not what its sum says (XXH3)");
  }
  LOOKASIDE_ASSIGN_OR_RETURN(std::string raw, Unpack(block, stored));
  if (block.kind == LktBlockKind::kFooter) return ReadFooter(raw);
  if (block.kind != LktBlockKind::kEvents) {
    return Broken(
        "a block of kind {} is not known; known are 1 (events) and 2 "
        "(footer)",
        static_cast<uint32_t>(block.kind));
  }
  blocks_.push_back({block_, block.events});
  if (decoder_.Begin(std::move(raw), block.events)) return absl::OkStatus();
  return Broken("the block's columns make no sense");
}

absl::Status LktReader::ReadFooter(std::string_view raw) {
  auto footer = DecodeFooter(raw);
  if (!footer) return Broken("the footer makes no sense");
  const TraceInfo& told = footer->info;
  if (told.events != counted_.events || told.accesses != counted_.accesses ||
      told.calls != counted_.calls || footer->blocks != blocks_) {
    return Broken(
        "the footer tells of {} events and {} blocks; the blocks before it are "
        "{} events and {} blocks",
        told.events, footer->blocks.size(), counted_.events, blocks_.size());
  }
  told_ = told;
  LOOKASIDE_RETURN_IF_ERROR(ReadTrailer());
  at_end_ = true;
  return absl::OkStatus();
}

absl::Status LktReader::ReadTrailer() {
  LOOKASIDE_ASSIGN_OR_RETURN(const std::string bytes,
                             TakePart(kLktTrailerBytes, "its trailer"));
  if (bytes != EncodeTrailer(block_)) return Broken("the trailer is damaged");
  if (Take(1).empty()) return source_->status();
  block_ = offset_ - 1;
  return Broken("something follows the end of the trace");
}

size_t LktReader::Read(std::span<TraceEvent> events) {
  LOOKASIDE_DCHECK(!events.empty());
  calls_.clear();
  while (status_.ok() && !at_end_) {
    const size_t count = decoder_.Read(events, calls_);
    if (count > 0) {
      Count(events.first(count));
      return count;
    }
    status_ = decoder_.ok() ? BeginBlock()
                            : Broken("the block's columns make no sense");
  }
  return 0;
}

void LktReader::Count(std::span<const TraceEvent> events) {
  uint64_t modifies = 0;
  for (const TraceEvent& event : events) {
    modifies += event.kind == EventKind::kModify ? 1 : 0;
  }
  for (const MemoryCall& call : calls_) {
    ++counted_.calls[static_cast<size_t>(call.kind)];
    if (!call.succeeded()) ++counted_.failed_calls;
  }
  const uint64_t accesses = events.size() - calls_.size();
  counted_.events += accesses;
  counted_.accesses += accesses + modifies;
}

TraceInfo LktReader::info() const {
  TraceInfo info = counted_;
  if (at_end_) info = told_;
  info.name = source_->name();
  info.format = "lkt";
  info.made_from = origin_.format;
  info.setup_accesses = origin_.setup_accesses;
  info.has_fetches = origin_.has_fetches;
  if (source_->compression() != Compression::kNone) {
    info.format += "+" + std::string(Suffix(source_->compression()));
  }
  info.bytes = source_->stored_size();
  info.xxh3 = source_->Xxh3();
  return info;
}

}  // namespace lookaside
