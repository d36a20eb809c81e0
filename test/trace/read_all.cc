// SPDX-License-Identifier: Apache-2.0
#include "lookaside/test/trace/read_all.h"

#include <algorithm>

#include "lookaside/base/status.h"

namespace lookaside {

uint64_t WholeTrace::Skipped(const std::string& kind) const {
  for (const SkippedRecords& skipped : info.skipped) {
    if (skipped.kind == kind) return skipped.count;
  }
  return 0;
}

bool WholeTrace::Warns(const std::string& text) const {
  return std::ranges::any_of(info.warnings, [&text](const std::string& w) {
    return w.find(text) != std::string::npos;
  });
}

WholeTrace ReadAll(absl::StatusOr<std::unique_ptr<TraceReader>> reader,
                   size_t buffer) {
  WholeTrace whole;
  if (!reader.ok()) {
    whole.error = Message(reader.status());
    return whole;
  }
  std::vector<TraceEvent> events(buffer);
  while (const size_t n = (*reader)->Read(events)) {
    for (size_t i = 0; i < n; ++i) {
      TraceEvent event = events[i];
      if (event.kind == EventKind::kCall) {
        whole.calls.push_back((*reader)->calls()[event.address.value()]);
        event.address = VirtAddr(whole.calls.size() - 1);
      }
      whole.events.push_back(event);
    }
  }
  whole.error = Message((*reader)->status());
  whole.info = (*reader)->info();
  return whole;
}

}  // namespace lookaside
