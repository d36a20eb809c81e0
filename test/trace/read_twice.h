// SPDX-License-Identifier: Apache-2.0
//
// What every reader must do with any bytes, for fuzz targets: not crash, hand
// out events and calls that are valid, and the same whatever the buffer's size.
#ifndef LOOKASIDE_TEST_TRACE_READ_TWICE_H_
#define LOOKASIDE_TEST_TRACE_READ_TWICE_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "lookaside/trace/trace_reader.h"

namespace lookaside {

// `open` gives a reader of the same bytes each time. Checks end the program.
void ReadTwice(
    absl::FunctionRef<absl::StatusOr<std::unique_ptr<TraceReader>>()> open);

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_TRACE_READ_TWICE_H_
