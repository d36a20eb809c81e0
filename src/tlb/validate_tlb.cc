// SPDX-License-Identifier: Apache-2.0
#include "lookaside/tlb/validate_tlb.h"

#include <bit>
#include <string_view>

#include "lookaside/base/status.h"
#include "lookaside/tlb/replacement.h"
#include "lookaside/tlb/set_index.h"

namespace lookaside {
namespace {

constexpr uint32_t kMaxEntries = 1u << 20;
constexpr size_t kMaxArrays = 64;

absl::Status ValidateShape(const TlbConfig& tlb) {
  if (tlb.level != 1 && tlb.level != 2) {
    return InvalidArgument("tlb.{}.level = {}: a level is 1 or 2", tlb.name,
                           tlb.level);
  }
  if (tlb.pages.empty()) {
    return InvalidArgument(
        "tlb.{}.pages is empty: an array holds at least one of \"4K\", \"2M\", "
        "\"1G\"",
        tlb.name);
  }
  if (tlb.entries == 0 || tlb.entries > kMaxEntries) {
    return InvalidArgument("tlb.{}.entries = {}: an array has 1 to {} entries",
                           tlb.name, tlb.entries, kMaxEntries);
  }
  if (tlb.ways == 0 || tlb.ways > tlb.entries || tlb.entries % tlb.ways != 0) {
    return InvalidArgument(
        "tlb.{}.ways = {}: the ways must divide the entries ({})", tlb.name,
        tlb.ways, tlb.entries);
  }
  if (!std::has_single_bit(tlb.sets())) {
    return InvalidArgument(
        "tlb.{}.entries = {}: {} ways make {} sets, which is not a power of "
        "two",
        tlb.name, tlb.entries, tlb.ways, tlb.sets());
  }
  return absl::OkStatus();
}

std::string_view WaysWanted(TlbReplacement policy) {
  switch (policy) {
    case TlbReplacement::kTreePlru:
      return "tree_plru wants a power of two of at most 64 ways";
    case TlbReplacement::kMru3Plru2:
      return "mru3_plru2 wants 6 ways";
    case TlbReplacement::kMru3Plru4:
      return "mru3_plru4 wants 12 ways";
    default:
      return "any number of ways suits";
  }
}

// The ways of one thread's share when all threads of a core are active.
uint32_t LeastWays(const TlbConfig& tlb, uint32_t threads) {
  if (tlb.smt != TlbSmt::kPartitioned) return tlb.ways;
  const uint32_t shares = std::bit_ceil(threads);
  return shares <= tlb.sets() ? tlb.ways : tlb.entries / shares;
}

absl::Status ValidatePolicies(const TlbConfig& tlb, uint32_t threads) {
  const uint32_t fold_bits = FoldBits(tlb.hash);
  if (fold_bits != 0 && tlb.sets() > (1u << fold_bits)) {
    return InvalidArgument(
        "tlb.{}.hash = \"xor{}\": it reaches {} sets, and {} entries of {} "
        "ways "
        "make {}; choose another hash or more ways",
        tlb.name, fold_bits, 1u << fold_bits, tlb.entries, tlb.ways,
        tlb.sets());
  }
  const uint32_t least = LeastWays(tlb, threads);
  if (least == 0) {
    return InvalidArgument(
        "tlb.{}.smt = \"partitioned\": {} entries cannot be divided among {} "
        "threads",
        tlb.name, tlb.entries, threads);
  }
  for (uint32_t ways : {tlb.ways, least}) {
    if (Replacement::SuitsWays(tlb.replacement, ways)) continue;
    return InvalidArgument("tlb.{}.replacement: {}, and {} has {}{}", tlb.name,
                           WaysWanted(tlb.replacement), tlb.name, ways,
                           ways == tlb.ways ? "" : " per thread");
  }
  return absl::OkStatus();
}

bool SameSide(TlbSide a, TlbSide b) {
  return a == b || a == TlbSide::kUnified || b == TlbSide::kUnified;
}

// Arrays that list the same size on the same level and side are banks.
absl::Status ValidateBanks(const TlbHierarchyConfig& config,
                           const TlbConfig& first, PageSize size) {
  uint32_t banks = 0;
  for (const TlbConfig& tlb : config.arrays) {
    if (tlb.level != first.level || !SameSide(tlb.side, first.side) ||
        !tlb.pages.Has(size)) {
      continue;
    }
    ++banks;
    if (tlb.sets() != first.sets()) {
      return InvalidArgument(
          "tlb.{} and tlb.{} both hold {} pages on level {}: such banks must "
          "have the same number of sets ({} and {})",
          first.name, tlb.name, Name(size), tlb.level, first.sets(),
          tlb.sets());
    }
  }
  if (!std::has_single_bit(banks) || banks > kMaxTlbBanks) {
    return InvalidArgument(
        "tlb.{}: {} arrays hold {} pages on level {}; the number of banks must "
        "be a power of two, at most {}",
        first.name, banks, Name(size), first.level, kMaxTlbBanks);
  }
  return absl::OkStatus();
}

absl::Status ValidateFirstLevel(const TlbHierarchyConfig& config, TlbSide side,
                                std::string_view side_name) {
  for (const TlbConfig& tlb : config.arrays) {
    if (tlb.level == 1 && SameSide(tlb.side, side) &&
        tlb.pages.Has(PageSize::k4K)) {
      return absl::OkStatus();
    }
  }
  return InvalidArgument(
      "no tlb.<name> of level 1 and side \"{}\" holds 4K pages: each side "
      "needs one",
      side_name);
}

}  // namespace

absl::Status Validate(const TlbHierarchyConfig& config,
                      uint32_t threads_per_core) {
  if (config.arrays.size() > kMaxArrays) {
    return InvalidArgument("{} TLB arrays: at most {} are possible",
                           config.arrays.size(), kMaxArrays);
  }
  for (const TlbConfig& tlb : config.arrays) {
    LOOKASIDE_RETURN_IF_ERROR(ValidateShape(tlb));
    LOOKASIDE_RETURN_IF_ERROR(ValidatePolicies(tlb, threads_per_core));
    uint32_t same_name = 0;
    for (const TlbConfig& other : config.arrays) {
      same_name += other.name == tlb.name;
    }
    if (same_name != 1) {
      return InvalidArgument("tlb.{} is given {} times", tlb.name, same_name);
    }
  }
  for (const TlbConfig& tlb : config.arrays) {
    for (PageSize size : kAllPageSizes) {
      if (!tlb.pages.Has(size)) continue;
      LOOKASIDE_RETURN_IF_ERROR(ValidateBanks(config, tlb, size));
    }
  }
  LOOKASIDE_RETURN_IF_ERROR(ValidateFirstLevel(config, TlbSide::kInst, "inst"));
  return ValidateFirstLevel(config, TlbSide::kData, "data");
}

}  // namespace lookaside
