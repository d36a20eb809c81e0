// SPDX-License-Identifier: Apache-2.0
#include "lookaside/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string>

#include "lookaside/base/printable.h"
#include "lookaside/base/status.h"
#include "lookaside/base/write_all.h"

namespace lookaside {
namespace {

// Opened the wrong way round: using it stays the error that it was.
void TakeIfClosed(int fd, int wrong_way) {
  if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) return;
  // The lowest free number is `fd`, since those below it are open by now.
  static_cast<void>(open("/dev/null", wrong_way));
}

// Of operator new: there is nothing left to unwind with.
[[noreturn]] void OutOfMemory() {
  WriteAll(STDERR_FILENO,
           "lookaside: memory ran out; vary fewer values, or simulate a "
           "smaller machine or footprint\n");
  _exit(2);
}

}  // namespace

void PrepareStandardStreams() {
  std::set_new_handler(&OutOfMemory);
  std::signal(SIGPIPE, SIG_IGN);
  TakeIfClosed(STDIN_FILENO, O_WRONLY);
  TakeIfClosed(STDOUT_FILENO, O_RDONLY);
  TakeIfClosed(STDERR_FILENO, O_RDONLY);
}

absl::Status WriteStandardOutput(std::string_view text) {
  if (WriteAll(STDOUT_FILENO, text)) return absl::OkStatus();
  if (errno == EPIPE) return absl::CancelledError("nobody reads the output");
  return InvalidArgument("standard output cannot be written: {}",
                         std::strerror(errno));
}

void PrintError(std::string_view message) {
  WriteAll(STDERR_FILENO, "lookaside: " + Printable(message) + "\n");
}

}  // namespace lookaside
