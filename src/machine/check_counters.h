// SPDX-License-Identifier: Apache-2.0
//
// What the safety checks found, as numbers and as examples. The properties:
//
//   C1   after an operation has returned, no access completes by a translation
//        that it took away
//   C2   a frame is free only when no CPU has a usable entry that leads to it
//   C3   a table is free only when no CPU can reach it, through its root or a
//        paging-structure cache
//   C4   loading a PCID without a flush exposes nothing of another tree, and
//        nothing that an operation took away
//   C5   a CPU's TLB generation never claims more than was flushed
//   C6   no store completes by a translation whose page was write-protected,
//        copied or unmapped by an operation that has returned
//   C10  no wait that can never end
//   C11  no two entries of different sizes translate one page differently
#ifndef LOOKASIDE_MACHINE_CHECK_COUNTERS_H_
#define LOOKASIDE_MACHINE_CHECK_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/cycles.h"
#include "lookaside/base/ids.h"

namespace lookaside {

enum class Check : uint8_t { kC1, kC2, kC3, kC4, kC5, kC6, kC10, kC11 };
inline constexpr size_t kChecks = 8;

constexpr std::string_view Name(Check check) {
  constexpr std::string_view kNames[kChecks] = {"C1", "C2", "C3",  "C4",
                                                "C5", "C6", "C10", "C11"};
  return kNames[static_cast<size_t>(check)];
}

// One violation, as a person wants to see it.
struct CheckExample {
  Check check = Check::kC1;
  CpuId cpu;              // whose entry it was
  VirtPage page;          // that the entry translates
  Cycles age;             // since the page table changed
  std::string operation;  // that changed it

  friend bool operator==(const CheckExample&, const CheckExample&) = default;
};

struct CheckCounters {
  static constexpr size_t kMostExamples = 16;

  std::array<uint64_t, kChecks> by_check{};
  uint64_t exposed = 0;   // uses that a declared relaxation allows
  uint64_t dormant = 0;   // entries to a freed frame that nobody can use
  uint64_t spurious = 0;  // an entry denied what the page table allows
  std::vector<CheckExample> examples;  // the first kMostExamples violations

  uint64_t violations() const {
    uint64_t sum = 0;
    for (uint64_t count : by_check) sum += count;
    return sum;
  }
  void Add(const CheckExample& violation) {
    ++by_check[static_cast<size_t>(violation.check)];
    if (examples.size() < kMostExamples) examples.push_back(violation);
  }

  friend bool operator==(const CheckCounters&, const CheckCounters&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_MACHINE_CHECK_COUNTERS_H_
