// SPDX-License-Identifier: Apache-2.0
//
// Sizes of the paging-structure caches: keys `psc.*`.
#ifndef LOOKASIDE_TLB_PSC_CONFIG_H_
#define LOOKASIDE_TLB_PSC_CONFIG_H_

#include <cstdint>

#include "absl/status/status.h"

namespace lookaside {

// What INVLPG drops of the running PCID's paging-structure entries.
enum class InvlpgScope : uint8_t {
  kPcid,     // all of them (SDM volume 3, 4.10.4.1)
  kAddress,  // those that translate the address (AMD, EFER.TCE)
};

// Entries of each cache; 0 is no such cache. LRU. `pde_ways` divides `pde`;
// the other three are fully associative.
struct PscConfig {
  uint32_t pml5e = 0;
  uint32_t pml4e = 0;
  uint32_t pdpte = 0;
  uint32_t pde = 0;
  uint32_t pde_ways = 0;  // 0: fully associative
  InvlpgScope invlpg_scope = InvlpgScope::kPcid;

  friend bool operator==(const PscConfig&, const PscConfig&) = default;
};

absl::Status Validate(const PscConfig& config);

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_PSC_CONFIG_H_
