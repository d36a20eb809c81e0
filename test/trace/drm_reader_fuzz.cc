// SPDX-License-Identifier: Apache-2.0
// Any bytes as a drmemtrace trace, whatever they look like:
// test/trace/read_twice.h.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lookaside/test/trace/read_twice.h"
#include "lookaside/trace/open_trace.h"
#include "lookaside/trace/trace_options.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  lookaside::TraceOptions options;
  options.format = lookaside::TraceFormat::kDrmemtrace;
  lookaside::ReadTwice(
      [&] { return lookaside::OpenTraceFromMemory("fuzz", bytes, options); });
  return 0;
}
