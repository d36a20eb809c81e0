// SPDX-License-Identifier: Apache-2.0
//
// Compressed files made by the libraries themselves, for tests of reading
// them.
#ifndef LOOKASIDE_TEST_TRACE_COMPRESS_H_
#define LOOKASIDE_TEST_TRACE_COMPRESS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lookaside/trace/decoder.h"

namespace lookaside {

// One member, stream or frame, with its check sum; the text itself for kNone; a
// zip has one member.
std::string Compress(std::string_view text, Compression compression);

inline constexpr Compression kCompressed[] = {
    Compression::kGzip, Compression::kXz,    Compression::kZstd,
    Compression::kLz4,  Compression::kBzip2, Compression::kSnappy};

// A zip archive of these members: name and text, deflated.
std::string Zip(
    const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace lookaside

#endif  // LOOKASIDE_TEST_TRACE_COMPRESS_H_
