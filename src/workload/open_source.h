// SPDX-License-Identifier: Apache-2.0
//
// Opens what a TRACE argument names: a recording (trace/open_trace.h), or a
// generator and its parameters:
//
//   gen:mprotect,t=8,p=512,n=8,l=0,size=1G,redraw=0,sparse=0
//
// All parameters may be left out. Of mprotect (mprotect_generator.h): t
// readers, p reads of a round, n pages of a call, l calls (0: until the region
// is exhausted), size of the region, redraw = 1 for new offsets in each round,
// sparse = 1 for a set-up that leaves out pages that are not used.
#ifndef LOOKASIDE_WORKLOAD_OPEN_SOURCE_H_
#define LOOKASIDE_WORKLOAD_OPEN_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "lookaside/trace/trace_options.h"
#include "lookaside/trace/trace_reader.h"
#include "lookaside/workload/mprotect_generator.h"

namespace lookaside {

// `seed`: of what a generator draws; `reading`: of recordings. An error names
// what is wrong in it.
absl::StatusOr<std::unique_ptr<TraceReader>> OpenSource(
    const std::string& name, uint64_t seed, const TraceOptions& reading = {});

// Whether `name` is that of a generator, right or wrong.
bool NamesGenerator(const std::string& name);

// The parameters of "gen:mprotect,...".
absl::StatusOr<MprotectConfig> ParseMprotect(const std::string& name);

}  // namespace lookaside

#endif  // LOOKASIDE_WORKLOAD_OPEN_SOURCE_H_
