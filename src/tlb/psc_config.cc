// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/psc_config.h"

#include <bit>
#include <string_view>

#include "lookaside/base/status.h"

namespace lookaside {
namespace {

// Far above any processor's; keeps a slip of the pen from filling memory.
constexpr uint32_t kMostEntries = 1 << 16;

}  // namespace

absl::Status Validate(const PscConfig& config) {
  const struct {
    std::string_view key;
    uint32_t entries;
  } caches[] = {{"pml5e", config.pml5e},
                {"pml4e", config.pml4e},
                {"pdpte", config.pdpte},
                {"pde", config.pde}};
  for (const auto& [key, entries] : caches) {
    if (entries > kMostEntries) {
      return InvalidArgument("psc.{} = {}: must be between 0 and {}", key,
                             entries, kMostEntries);
    }
  }
  if (config.pde_ways == 0) return absl::OkStatus();
  if (config.pde == 0) {
    return InvalidArgument(
        "psc.pde_ways = {}: psc.pde = 0 leaves the cache out, so it has no "
        "ways: set psc.pde_ways = 0 too",
        config.pde_ways);
  }
  if (config.pde_ways > config.pde || config.pde % config.pde_ways != 0 ||
      !std::has_single_bit(config.pde / config.pde_ways)) {
    return InvalidArgument(
        "psc.pde_ways = {}: psc.pde ({}) divided by the ways must be a power "
        "of two; 0 is fully associative",
        config.pde_ways, config.pde);
  }
  return absl::OkStatus();
}

}  // namespace lookaside
