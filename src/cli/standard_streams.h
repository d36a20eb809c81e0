// SPDX-License-Identifier: Apache-2.0
//
// Standard output and files for results: written whole, or an error. Nothing
// here blocks on or crashes from a reader that has gone away.
#ifndef LOOKASIDE_CLI_STANDARD_STREAMS_H_
#define LOOKASIDE_CLI_STANDARD_STREAMS_H_

#include <string_view>

#include "absl/status/status.h"

namespace lookaside {

// Once, before any file is opened: a write to a closed pipe becomes an error
// instead of a signal, and standard streams that the parent closed are taken,
// so that no file of ours gets their numbers.
void PrepareStandardStreams();

// All of `text`, or an error: Cancelled where the reader has gone, as `head`
// does once it has its lines. That is no failure and is not told.
absl::Status WriteStandardOutput(std::string_view text);

// One line on standard error, as base/printable.h shows it.
void PrintError(std::string_view message);

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_STANDARD_STREAMS_H_
