// SPDX-License-Identifier: Apache-2.0
//
// Short ways to say which array a test is about.
#ifndef LOOKASIDE_TEST_TLB_TLB_TEST_CONFIG_H_
#define LOOKASIDE_TEST_TLB_TLB_TEST_CONFIG_H_

#include <cstdint>
#include <string>
#include <utility>

#include "lookaside/tlb/tlb_config.h"

namespace lookaside {

// A data array of 4K pages, named by what it is.
inline TlbConfig ArrayOf(uint32_t entries, uint32_t ways,
                         TlbReplacement replacement,
                         TlbHash hash = TlbHash::kLinear) {
  TlbConfig config;
  config.name = "dtlb_4k";
  config.pages = {PageSize::k4K};
  config.entries = entries;
  config.ways = ways;
  config.replacement = replacement;
  config.hash = hash;
  return config;
}

inline TlbConfig Named(std::string name, uint32_t level, TlbSide side,
                       PageSizeSet pages, TlbConfig config) {
  config.name = std::move(name);
  config.level = level;
  config.side = side;
  config.pages = pages;
  return config;
}

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_TLB_TLB_TEST_CONFIG_H_
