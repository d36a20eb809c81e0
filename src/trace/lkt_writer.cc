// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lkt_writer.h"

#include <utility>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {

absl::StatusOr<std::unique_ptr<LktWriter>> LktWriter::Create(
    const std::string& path, LktOrigin origin, int level) {
  LOOKASIDE_CHECK(level >= kLktLeastLevel && level <= kLktMostLevel);
  LOOKASIDE_ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  std::unique_ptr<LktWriter> writer(new LktWriter(std::move(file), level));
  LktHeader header;
  header.origin = std::move(origin);
  LOOKASIDE_RETURN_IF_ERROR(writer->Append(EncodeHeader(header)));
  return writer;
}

absl::Status LktWriter::Append(std::string_view bytes) {
  offset_ += bytes.size();
  return file_->Append(bytes);
}

absl::Status LktWriter::Write(std::span<const TraceEvent> events,
                              std::span<const MemoryCall> calls) {
  for (const TraceEvent& event : events) {
    if (encoder_.full()) {
      LOOKASIDE_RETURN_IF_ERROR(EndBlock());
    }
    encoder_.Add(event, calls);
  }
  return absl::OkStatus();
}

absl::Status LktWriter::EndBlock() {
  const uint32_t events = encoder_.events();
  blocks_.push_back({offset_, events});
  return Append(
      EncodeBlock(LktBlockKind::kEvents, encoder_.Take(), events, level_));
}

absl::Status LktWriter::Finish(const TraceInfo& info) {
  if (encoder_.events() > 0) {
    LOOKASIDE_RETURN_IF_ERROR(EndBlock());
  }
  const uint64_t footer = offset_;
  const std::string raw = EncodeFooter({info, std::move(blocks_)});
  // A trace of 2^50 events would have so many blocks.
  if (raw.size() > kLktMostRaw) {
    return ResourceExhausted("a trace of so many blocks cannot be written");
  }
  LOOKASIDE_RETURN_IF_ERROR(
      Append(EncodeBlock(LktBlockKind::kFooter, raw, 0, level_)));
  LOOKASIDE_RETURN_IF_ERROR(Append(EncodeTrailer(footer)));
  return file_->Commit();
}

}  // namespace lookaside
