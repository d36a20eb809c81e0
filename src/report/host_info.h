// SPDX-License-Identifier: Apache-2.0
//
// What a result says of the machine that made it: `host`, which no comparison
// of results looks at.
#ifndef LOOKASIDE_REPORT_HOST_INFO_H_
#define LOOKASIDE_REPORT_HOST_INFO_H_

#include <cstdint>
#include <string>

namespace lookaside {

struct HostInfo {
  std::string compiler;  // "GCC 12.2.0"
  std::string commit;    // of the source; "unknown" unless the build told
  double wall_s = 0;     // of the replay, decoding of the trace included
  double accesses_per_s = 0;
  uint64_t peak_rss_bytes = 0;  // of the process so far
};

// Of this process, after a replay of `accesses` that took `wall_s` seconds.
HostInfo MeasureHost(uint64_t accesses, double wall_s);

}  // namespace lookaside

#endif  // LOOKASIDE_REPORT_HOST_INFO_H_
