// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_BASE_WRITE_ALL_H_
#define LOOKASIDE_BASE_WRITE_ALL_H_

#include <string_view>

namespace lookaside {

// Writes all of `text` to the file descriptor; false on an error, which errno
// then tells.
bool WriteAll(int fd, std::string_view text);

}  // namespace lookaside

#endif  // LOOKASIDE_BASE_WRITE_ALL_H_
