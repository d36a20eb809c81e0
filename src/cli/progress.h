// SPDX-License-Identifier: Apache-2.0
//
// A line on the terminal that tells how far a long replay is. Nothing is
// printed where standard error is no terminal, or in the first two seconds.
//
//   Progress progress;
//   options.progress = [&](uint64_t, uint64_t accesses) {
//     progress.Update(accesses);
//   };
#ifndef LOOKASIDE_CLI_PROGRESS_H_
#define LOOKASIDE_CLI_PROGRESS_H_

#include <chrono>
#include <cstdint>

namespace lookaside {

class Progress {
 public:
  Progress();
  // Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(uint64_t accesses);

  double seconds() const;  // since the beginning

 private:
  using Clock = std::chrono::steady_clock;

  bool on_terminal_;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point next_;  // update
};

}  // namespace lookaside

#endif  // LOOKASIDE_CLI_PROGRESS_H_
