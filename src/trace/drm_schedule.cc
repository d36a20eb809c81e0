// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/drm_schedule.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ranges>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

struct Entry {
  uint64_t tid;
  uint64_t timestamp;
  uint64_t cpu;
  uint64_t first;
};
static_assert(sizeof(Entry) == 32);

absl::StatusOr<std::vector<Entry>> ReadEntries(ByteSource& source) {
  std::vector<Entry> entries;
  std::array<char, sizeof(Entry)> bytes;
  size_t size = 0;
  while (const size_t count = source.Read(std::span(bytes).subspan(size))) {
    size += count;
    if (size < bytes.size()) continue;
    size = 0;
    entries.emplace_back();
    std::memcpy(&entries.back(), bytes.data(), bytes.size());
  }
  LOOKASIDE_RETURN_IF_ERROR(source.status());
  if (size == 0) return entries;
  return DataLoss(
      "{}: byte {} unpacked: the schedule ends within a record of {} bytes: it "
      "is truncated",
      source.name(), entries.size() * sizeof(Entry), sizeof(Entry));
}

}  // namespace

absl::StatusOr<std::vector<DrmSlice>> ReadDrmSchedule(ByteSource& source) {
  LOOKASIDE_ASSIGN_OR_RETURN(std::vector<Entry> entries, ReadEntries(source));
  // A serial schedule is in this order already. Which CPU it was plays no part:
  // its place holds that in the file, which decides among equals.
  for (size_t i = 0; i < entries.size(); ++i) entries[i].cpu = i;
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.timestamp, a.cpu) < std::pair(b.timestamp, b.cpu);
  });
  std::vector<DrmSlice> slices(entries.size());
  absl::flat_hash_map<uint64_t, uint64_t> next;  // first of it, by thread
  for (size_t i = entries.size(); i-- > 0;) {
    const Entry& entry = entries[i];
    slices[i] = {entry.tid, entry.first};
    const auto [at, last] = next.try_emplace(entry.tid, entry.first);
    if (last) continue;
    slices[i].end = std::exchange(at->second, entry.first);
    if (slices[i].end >= entry.first) continue;
    return DataLoss(
        "{}: thread {} goes from instruction {} back to {}: the schedule is "
        "damaged",
        source.name(), entry.tid, entry.first, slices[i].end);
  }
  return slices;
}

}  // namespace lookaside
