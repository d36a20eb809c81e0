// SPDX-License-Identifier: Apache-2.0
//
// The line that tells how far a replay is: on a terminal, after two seconds.
#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lookaside/test/cli/command_runner.h"

namespace lookaside {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// More than the replay reads at a time.
std::string ManyEvents() {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "I  04001000,4\n";
  return text;
}

void Write(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = write(fd, text.data() + at, text.size() - at);
    ASSERT_GT(n, 0);
    at += static_cast<size_t>(n);
  }
}

// What a replay of `text`, a pause and `text` again shows on `err_fd`.
int Replay(int err_fd, const std::string& text,
           std::chrono::milliseconds pause) {
  int input[2];
  EXPECT_EQ(pipe2(input, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    dup2(err_fd, STDERR_FILENO);
    const std::string binary = Binary();
    execl(binary.c_str(), "lookaside", "replay", "-", nullptr);
    _exit(127);
  }
  close(input[0]);
  Write(input[1], text);
  std::this_thread::sleep_for(pause);
  Write(input[1], text);
  close(input[1]);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

std::string ShownOnTerminal(std::chrono::milliseconds pause) {
  int terminal = -1;
  int end = -1;
  EXPECT_EQ(openpty(&terminal, &end, nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(Replay(end, ManyEvents(), pause), 0);
  // What was written reaches the reader a moment later: read to the end, which
  // comes as an error once nobody holds the other side.
  close(end);
  std::string shown;
  char chunk[4096];
  for (ssize_t n; (n = read(terminal, chunk, sizeof(chunk))) > 0;) {
    shown.append(chunk, static_cast<size_t>(n));
  }
  close(terminal);
  return shown;
}

TEST(ProgressTest, IsShownAfterTwoSecondsAndCleared) {
  const std::string shown = ShownOnTerminal(std::chrono::milliseconds(2200));
  EXPECT_THAT(shown, HasSubstr(" accesses in 2 s, "));
  EXPECT_THAT(shown, HasSubstr(" million a second"));
  EXPECT_THAT(shown, EndsWith("\r\033[K"));
}

TEST(ProgressTest, IsNotShownInAPipe) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK), 0);
  EXPECT_EQ(Replay(pipe_fds[1], ManyEvents(), std::chrono::milliseconds(2200)),
            0);
  char byte = 0;
  EXPECT_EQ(read(pipe_fds[0], &byte, 1), -1);  // nothing to read
}

}  // namespace
}  // namespace lookaside
