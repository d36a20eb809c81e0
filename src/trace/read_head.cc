// SPDX-License-Identifier: Apache-2.0
#include "lookaside/trace/read_head.h"

#include <span>

namespace lookaside {

std::string ReadHead(ByteSource& source) {
  std::string head(kHeadBytes, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const size_t count = source.Read(std::span(head).subspan(size));
    if (count == 0) break;
    size += count;
  }
  head.resize(size);
  return head;
}

}  // namespace lookaside
