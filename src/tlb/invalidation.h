// SPDX-License-Identifier: Apache-2.0
//
// A request to drop cached translations, as a value, with the architecture's
// scopes (SDM volume 3, 4.10.4.1). Each acts on the hardware thread that
// executes it: a sibling's entries stay, except global ones, which no thread
// owns. Each reaches the paging-structure caches too.
//
// Left out until something sends them: INVVPID and INVEPT.
#ifndef LOOKASIDE_TLB_INVALIDATION_H_
#define LOOKASIDE_TLB_INVALIDATION_H_

#include <cstdint>
#include <string_view>

#include "lookaside/base/address.h"
#include "lookaside/base/ids.h"

namespace lookaside {

enum class InvalidationScope : uint8_t {
  // INVLPG: the page in the running PCID, and its global translation.
  kInvlpg,
  // INVPCID type 0: the page in `pcid`, but no global translation.
  kInvpcidAddress,
  // INVPCID type 1: all of `pcid` but global translations.
  kInvpcidContext,
  // INVPCID type 2: all PCIDs, global translations too.
  kInvpcidAll,
  // INVPCID type 3: all PCIDs but global translations.
  kInvpcidNonGlobal,
  // MOV to CR3 of the running root, bit 63 clear: the running PCID but global
  // translations.
  kCr3,
  // Clearing CR4.PGE and setting it again: everything.
  kCr4Pge,
};

constexpr std::string_view Name(InvalidationScope scope) {
  constexpr std::string_view kNames[] = {
      "invlpg",      "invpcid_address",    "invpcid_context",
      "invpcid_all", "invpcid_non_global", "cr3",
      "cr4_pge"};
  return kNames[static_cast<int>(scope)];
}

struct Invalidation {
  InvalidationScope scope = InvalidationScope::kInvlpg;
  VirtPage page;  // kInvlpg, kInvpcidAddress
  Pcid pcid;      // kInvpcidAddress, kInvpcidContext

  friend bool operator==(const Invalidation&, const Invalidation&) = default;
};

// INVLPGB: on every hardware thread, and in no order until TLBSYNC (APM volume
// 3). Global translations are spared.
enum class BroadcastScope : uint8_t {
  kPages,      // of `pcid`
  kContext,    // all of `pcid`
  kNonGlobal,  // all PCIDs
};

struct Broadcast {
  BroadcastScope scope = BroadcastScope::kNonGlobal;
  Pcid pcid;
  VirtPage page;             // kPages: the first
  uint32_t count = 0;        // of them
  uint8_t stride_order = 0;  // log2 of the pages from one to the next

  friend bool operator==(const Broadcast&, const Broadcast&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_TLB_INVALIDATION_H_
