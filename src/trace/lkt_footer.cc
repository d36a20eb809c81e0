// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/lkt_footer.h"

#include <limits>
#include <utility>

#include "lookaside/trace/varint.h"

namespace lookaside {

std::string EncodeFooter(const LktFooter& footer) {
  const TraceInfo& info = footer.info;
  std::string raw;
  AppendText(raw, info.xxh3);
  AppendVarint(raw, info.bytes);
  AppendVarint(raw, info.events);
  AppendVarint(raw, info.accesses);
  AppendVarint(raw, info.calls.size());
  for (const uint64_t count : info.calls) AppendVarint(raw, count);
  AppendVarint(raw, info.failed_calls);
  AppendVarint(raw, info.threads);
  AppendVarint(raw, info.processes);
  AppendVarint(raw, info.skipped.size());
  for (const SkippedRecords& skipped : info.skipped) {
    AppendText(raw, skipped.kind);
    AppendVarint(raw, skipped.count);
  }
  AppendVarint(raw, info.warnings.size());
  for (const std::string& warning : info.warnings) AppendText(raw, warning);
  AppendVarint(raw, footer.blocks.size());
  uint64_t offset = 0;
  for (const LktBlockPlace& block : footer.blocks) {
    AppendVarint(raw, block.offset - std::exchange(offset, block.offset));
    AppendVarint(raw, block.events);
  }
  return raw;
}

std::optional<LktFooter> DecodeFooter(std::string_view raw) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  ByteReader reader(raw);
  LktFooter footer;
  TraceInfo& info = footer.info;
  info.xxh3 = reader.Text();
  info.bytes = reader.Varint();
  info.events = reader.Varint();
  info.accesses = reader.Varint();
  if (reader.Varint() != info.calls.size()) return std::nullopt;
  for (uint64_t& count : info.calls) count = reader.Varint();
  info.failed_calls = reader.Varint();
  info.threads = static_cast<uint32_t>(reader.VarintUpTo(kMost));
  info.processes = static_cast<uint32_t>(reader.VarintUpTo(kMost));
  for (uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    std::string kind(reader.Text());
    info.skipped.push_back({std::move(kind), reader.Varint()});
  }
  for (uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    info.warnings.emplace_back(reader.Text());
  }
  uint64_t offset = 0;
  for (uint64_t left = reader.Varint(); left > 0 && reader.ok(); --left) {
    offset += reader.Varint();
    footer.blocks.push_back({offset, reader.Varint()});
  }
  if (!reader.ok() || !reader.rest().empty()) return std::nullopt;
  return footer;
}

}  // namespace lookaside
