// SPDX-License-Identifier: Apache-2.0
#include "lookaside/report/host_info.h"

#include <sys/resource.h>

// Builds are not stamped, so that equal sources give equal objects.
#ifndef LOOKASIDE_COMMIT
#define LOOKASIDE_COMMIT "unknown"
#endif

namespace lookaside {
namespace {

#ifdef __clang__
constexpr char kCompiler[] = __VERSION__;  // begins with its name
#else
constexpr char kCompiler[] = "GCC " __VERSION__;
#endif

uint64_t PeakRssBytes() {
  struct rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;  // Linux: KiB
}

}  // namespace

HostInfo MeasureHost(uint64_t accesses, double wall_s) {
  HostInfo host;
  host.compiler = kCompiler;
  host.commit = LOOKASIDE_COMMIT;
  host.wall_s = wall_s;
  host.accesses_per_s = wall_s > 0 ? static_cast<double>(accesses) / wall_s : 0;
  host.peak_rss_bytes = PeakRssBytes();
  return host;
}

}  // namespace lookaside
