// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli; RFC 3720, appendix B.4), the check of snappy's framing
// format. Debian 12 has no library of it alone, and zlib's CRC-32 is another.
#ifndef LOOKASIDE_TRACE_CRC32C_H_
#define LOOKASIDE_TRACE_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace lookaside {

// Crc32c("123456789") == 0xe3069283.
uint32_t Crc32c(std::string_view bytes);

}  // namespace lookaside

#endif  // LOOKASIDE_TRACE_CRC32C_H_
