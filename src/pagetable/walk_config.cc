// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/walk_config.h"

#include <bit>
#include <string_view>

#include "lookaside/base/lru_order.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

// Bounds far beyond any machine, so that no sum of a walk can overflow.
constexpr uint32_t kMostCycles = 1'000'000;
constexpr uint32_t kMostNs = 1'000'000;
constexpr uint32_t kMostLines = 1 << 26;  // 4 GiB
constexpr uint32_t kMostWalkers = 64;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kMostNodeMemory = uint64_t{1} << 52;  // MAXPHYADDR at most

absl::Status AtMost(std::string_view key, uint32_t value, uint32_t most) {
  if (value <= most) return absl::OkStatus();
  return InvalidArgument("walk.{} = {}: must be between 0 and {}", key, value,
                         most);
}

absl::Status ValidateCache(std::string_view name,
                           const LineCacheConfig& config) {
  if (config.lines > kMostLines) {
    return InvalidArgument("walk.{}_lines = {}: must be between 0 and {}", name,
                           config.lines, kMostLines);
  }
  if (config.cycles > kMostCycles) {
    return InvalidArgument("walk.{}_cycles = {}: must be between 0 and {}",
                           name, config.cycles, kMostCycles);
  }
  if (config.lines == 0) return absl::OkStatus();
  if (config.ways == 0 || config.lines % config.ways != 0 ||
      !std::has_single_bit(config.lines / config.ways)) {
    return InvalidArgument(
        "walk.{0}_ways = {1}: walk.{0}_lines ({2}) divided by the ways must be "
        "a power of two",
        name, config.ways, config.lines);
  }
  if (config.ways > LruOrder::kMostWays) {
    return InvalidArgument("walk.{}_ways = {}: must be between 1 and {}", name,
                           config.ways, LruOrder::kMostWays);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const WalkConfig& config) {
  LOOKASIDE_RETURN_IF_ERROR(
      AtMost("base_cycles", config.base_cycles, kMostCycles));
  if (config.walkers == 0 || config.walkers > kMostWalkers) {
    return InvalidArgument("walk.walkers = {}: must be between 1 and {}",
                           config.walkers, kMostWalkers);
  }
  const struct {
    std::string_view key;
    Permille value;
  } fractions[] = {{"overlap", config.overlap},
                   {"data_pressure", config.data_pressure}};
  for (const auto& [key, value] : fractions) {
    if (value.thousandths() > Permille::kOne) {
      return InvalidArgument("walk.{} = {}: must be between 0 and 1", key,
                             value.thousandths() / 1000.0);
    }
  }
  LOOKASIDE_RETURN_IF_ERROR(ValidateCache("l1", config.l1));
  LOOKASIDE_RETURN_IF_ERROR(ValidateCache("l2", config.l2));
  LOOKASIDE_RETURN_IF_ERROR(ValidateCache("l3", config.l3));
  LOOKASIDE_RETURN_IF_ERROR(
      AtMost("local_memory_ns", config.local_memory_ns, kMostNs));
  return AtMost("remote_memory_ns", config.remote_memory_ns, kMostNs);
}

absl::Status Validate(const PagingConfig& config) {
  if (config.levels != 4 && config.levels != 5) {
    return InvalidArgument("paging.levels = {}: must be 4 or 5", config.levels);
  }
  if (config.node_memory == 0 || config.node_memory % kGiB != 0 ||
      config.node_memory > kMostNodeMemory) {
    return InvalidArgument(
        "paging.node_memory = {}: must be a multiple of 1 GiB between 1 GiB "
        "and {} GiB",
        config.node_memory, kMostNodeMemory / kGiB);
  }
  return absl::OkStatus();
}

}  // namespace lookaside
