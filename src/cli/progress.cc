// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "lookaside/base/write_all.h"
#include "lookaside/report/format_number.h"

namespace lookaside {
namespace {

constexpr std::chrono::milliseconds kQuiet{2000};
constexpr std::chrono::milliseconds kInterval{250};
constexpr char kClearLine[] = "\r\033[K";

}  // namespace

Progress::Progress()
    : on_terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_(start_ + kQuiet) {}

Progress::~Progress() {
  if (shown_) WriteAll(STDERR_FILENO, kClearLine);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::Update(uint64_t accesses) {
  if (!on_terminal_ || Clock::now() < next_) return;
  const double elapsed = seconds();
  WriteAll(STDERR_FILENO,
           fmt::format("{}{} accesses in {:.0f} s, {:.1f} million a second",
                       kClearLine, Grouped(accesses), elapsed,
                       static_cast<double>(accesses) / elapsed / 1e6));
  shown_ = true;
  next_ = Clock::now() + kInterval;
}

}  // namespace lookaside
