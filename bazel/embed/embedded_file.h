// SPDX-License-Identifier: Apache-2.0
#ifndef LOOKASIDE_EMBED_EMBEDDED_FILE_H_
#define LOOKASIDE_EMBED_EMBEDDED_FILE_H_

#include <string_view>

namespace lookaside {

// A file of the repository, as it stands in the program itself. Both views
// live as long as the program.
struct EmbeddedFile {
  std::string_view name;  // Relative to the package that embeds it.
  std::string_view contents;
};

}  // namespace lookaside

#endif  // LOOKASIDE_EMBED_EMBEDDED_FILE_H_
